#include "daemon/cli/suite_levels.h"

#include <map>
#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace torchwatch::cli {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

/// A metrics file of TorchBench with train of BERT on a GPU, and the metrics in `more`.
json metrics_file(json const& more = json::object()) {
  json metrics{{"test_train[BERT_pytorch-cuda-eager]_latency", 61.02},
               {"test_train[BERT_pytorch-cuda-eager]_gmem", 4.41}};
  metrics.update(more);
  return {{"name", "torch-nightly"},
          {"environ", {{"pytorch_version", "2.3.0.dev20240110+cu121"}}},
          {"metrics", metrics}};
}

Result<SuiteLevels> read(json const& file) {
  std::istringstream text{file.dump()};
  return read_levels("a.json", text);
}

std::map<std::string, double> levels_of(SuiteLevels const& side) {
  std::map<std::string, double> levels;
  for (auto const& [series, level] : side.levels)
    levels[name_of(series)] = level;
  return levels;
}

auto const gmem_of_bert = Pair("test_train[BERT_pytorch-cuda-eager]_gmem", 4.41);
auto const latency_of_bert = Pair("test_train[BERT_pytorch-cuda-eager]_latency", 61.02);

TEST(SuiteLevels, OfTorchBench_AreReadWithTheScoreOfTheConfigurationSkipped) {
  auto const side = read(metrics_file({{"v3_score", 1023.4}})).value();
  EXPECT_THAT(levels_of(side), ElementsAre(gmem_of_bert, latency_of_bert));
  EXPECT_THAT(side.skipped, ElementsAre("v3_score (no known benchmark)"));
  EXPECT_THAT(read(metrics_file()).value().skipped, IsEmpty());
}

TEST(SuiteLevels, OfTorchBench_AreReadOfBothDevicesInOneFile) {
  auto const side =
      read(metrics_file({{"test_train[BERT_pytorch-cpu-eager]_latency", 900.5}})).value();
  EXPECT_THAT(levels_of(side),
              ElementsAre(Pair("test_train[BERT_pytorch-cpu-eager]_latency", 900.5),
                          gmem_of_bert,
                          latency_of_bert));
  EXPECT_THAT(side.skipped, IsEmpty());
}

TEST(SuiteLevels, OfTorchBench_AreReadWithMetricsOfLaterVersionsSkipped) {
  auto const side = read(metrics_file({{"test_eval[hf_T5-cuda-eager]_model_flops", 0.5},
                                       {"test_eval[hf_T5-mps-eager]_latency", 7},
                                       {"test_eval[hf_T5-cuda-eager]_latency", nullptr}}))
                        .value();
  EXPECT_THAT(levels_of(side), ElementsAre(gmem_of_bert, latency_of_bert));
  EXPECT_THAT(side.skipped,
              ElementsAre("test_eval[hf_T5-cuda-eager]_latency (not a number)",
                          "test_eval[hf_T5-cuda-eager]_model_flops (unknown metric)",
                          "test_eval[hf_T5-mps-eager]_latency (no known benchmark)"));
}

TEST(SuiteLevels, OfTorchBench_AreReadWithFailedBenchmarksSkipped) {
  auto const side = read(metrics_file({{"test_eval[yolov3-cuda-eager]_latency", -1.0}})).value();
  EXPECT_THAT(levels_of(side), ElementsAre(gmem_of_bert, latency_of_bert));
  EXPECT_THAT(side.skipped, ElementsAre("test_eval[yolov3-cuda-eager]_latency (failed)"));
}

TEST(SuiteLevels, OfTorchBench_AreAnErrorWhenNothingCanBeCompared) {
  auto const side = read({{"metrics", {{"v3_score", 1023.4}}}});
  EXPECT_EQ(side.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(side.error().message,
              HasSubstr("a.json: found no metric of a known benchmark, allowed is"));
}

TEST(SuiteLevels, OfBench_AreReadWithUnknownMetricsSkipped) {
  json const result{{"benchmark", "test_eval[dlrm-cpu-eager]"},
                    {"metrics", {{"latency", {{"value", 10}}}, {"power", {{"value", 3}}}}}};
  auto const side = read(json::array({result})).value();
  EXPECT_THAT(levels_of(side), ElementsAre(Pair("test_eval[dlrm-cpu-eager]_latency", 10)));
  EXPECT_THAT(side.skipped, ElementsAre("test_eval[dlrm-cpu-eager]_power (unknown metric)"));
  EXPECT_THAT(read(json::array({result, result})).error().message,
              HasSubstr("a.json: found test_eval[dlrm-cpu-eager] twice, allowed is"));
}

json result_with(std::string const& unit, std::string const& better) {
  json const metric{{"value", 1234.5}, {"unit", unit}, {"better", better}};
  json const result{{"benchmark", "test_eval[nanogpt-cpu-mine]"},
                    {"metrics", {{"levels_tokens", metric}}}};
  return json::array({result});
}

TEST(SuiteLevels, OfBench_DeclareMetricsThatTheFileDescribes) {
  auto const side = read(result_with("1/s", "higher")).value();
  EXPECT_THAT(levels_of(side),
              ElementsAre(Pair("test_eval[nanogpt-cpu-mine]_levels_tokens", 1234.5)));
  auto const& kind = parse_metric("levels_tokens").value().kind();
  EXPECT_EQ(kind.unit, "1/s");
  EXPECT_TRUE(kind.is_higher_better);
}

TEST(SuiteLevels, OfBench_SkipMetricsOfAnotherUnitOrDirection) {
  ASSERT_THAT(read(result_with("1/s", "higher")).value().skipped, IsEmpty());
  EXPECT_THAT(read(result_with("1/s", "lower")).value().skipped,
              ElementsAre("test_eval[nanogpt-cpu-mine]_levels_tokens (in 1/s, lower is better, but "
                          "declared in 1/s, higher is better)"));
  EXPECT_THAT(read(result_with("1/min", "higher")).value().skipped, SizeIs(1));
}

TEST(SuiteLevels, OfAnotherForm_AreAnError) {
  EXPECT_THAT(read({{"a", 1}}).error().message, HasSubstr("a.json: found JSON of another form"));
  std::istringstream garbage{"metrics"};
  EXPECT_THAT(read_levels("a.json", garbage).error().message,
              HasSubstr("a.json: found text that is not JSON, allowed is"));
}

TEST(SuiteLevels, NameWhatWasSkippedOnOneLine) {
  EXPECT_EQ(line_of_skipped("a.json", {}), "");
  EXPECT_EQ(line_of_skipped("a.json", {"v3_score (no known benchmark)"}),
            "a.json: skipped 1 metric: v3_score (no known benchmark)\n");
  EXPECT_EQ(line_of_skipped("a.json", std::vector<std::string>(12, "x (failed)")),
            "a.json: skipped 12 metrics: x (failed), x (failed), x (failed), x (failed), "
            "x (failed), x (failed), x (failed), x (failed), x (failed), x (failed) and 2 more\n");
  auto const side = read(metrics_file({{"score\nforged", 1}})).value();
  EXPECT_THAT(side.skipped, ElementsAre("score\\nforged (no known benchmark)"));
}

}  // namespace
}  // namespace torchwatch::cli
