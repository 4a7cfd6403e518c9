#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/api/http_client.h"
#include "tests/api/live_api.h"

namespace torchwatch::tests {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

/// Stores a process of a nightly of the story, and the nightly summary.
void measure(storage::Store& store,
             NightlyId nightly,
             std::string const& fleet,
             std::string const& benchmark,
             double ms) {
  auto outcome = outcome_of(Campaign::of(nightly), 0, ms);
  outcome.key.fleet = fleet;
  outcome.key.benchmark = parse_benchmark(benchmark).value();
  outcome.key.commit = store.nightlies().find(nightly)->commit;
  store.jobs().record({outcome});
  store.histories().keep(nightly);
}

class ComparisonTest : public ::testing::Test {
 protected:
  json read(std::string const& target) {
    auto const answer = ask(api.port(), get(target));
    EXPECT_EQ(answer.status, 200) << answer.body;
    return json::parse(answer.body);
  }

  /// Returns the only error of a query.
  json refusal_of(std::string const& query) {
    auto const answer = ask(api.port(), get("/api/v1/compare?" + query));
    EXPECT_EQ(answer.status, 400) << answer.body;
    auto const errors = json::parse(answer.body).at("errors");
    EXPECT_THAT(errors, SizeIs(1)) << errors;
    return errors.at(0);
  }

  void expect_refused(std::string const& query,
                      std::string const& field,
                      std::string const& detail) {
    auto const error = refusal_of(query);
    EXPECT_EQ(error.at("field"), field);
    EXPECT_EQ(error.at("detail"), detail);
  }

  LiveApi api;
};

TEST_F(ComparisonTest, ComparesTwoNewestJudgedNightliesByDefault) {
  api.fill([](storage::Store& store) {
    measure(store, NightlyId{3}, "local", "test_train[dlrm-cpu-eager]", 50);  // not judged yet
  });

  auto const compared = read("/api/v1/compare");

  EXPECT_EQ(compared.at("before").at("nightly").at("id"), 1);
  EXPECT_EQ(compared.at("after").at("nightly").at("date"), "2026-01-02");
  EXPECT_EQ(compared.at("after").at("fleet"), "local");
  ASSERT_THAT(compared.at("rows"), SizeIs(1));
  auto const& row = compared.at("rows").at(0);
  EXPECT_EQ(row.at("model"), "dlrm");
  EXPECT_EQ(row.at("domain"), "RECOMMENDATION");
  EXPECT_TRUE(row.at("fleet").is_null());
  EXPECT_EQ(row.at("metrics").at("latency").at("before"), 10);
  EXPECT_EQ(row.at("metrics").at("latency").at("after"), 12);
  EXPECT_EQ(row.at("metrics").at("latency").at("ratio"), 1.2);
  EXPECT_EQ(row.at("metrics").at("cmem").at("ratio"), 1);
  ASSERT_THAT(compared.at("means"), SizeIs(4)) << "two metrics, for all and for a domain";
  EXPECT_TRUE(compared.at("means").at(0).at("domain").is_null());
  EXPECT_EQ(compared.at("means").at(2).at("domain"), "RECOMMENDATION");
  EXPECT_EQ(compared.at("means").at(2).at("ratio"), 1.2);
}

TEST_F(ComparisonTest, ComparesAnyTwoNightlies) {
  api.fill([](storage::Store& store) {
    measure(store, NightlyId{3}, "local", "test_train[dlrm-cpu-eager]", 50);
  });

  auto const compared = read("/api/v1/compare?before=3&after=1");

  EXPECT_EQ(compared.at("rows").at(0).at("metrics").at("latency").at("ratio"), 0.2);
  EXPECT_EQ(read("/api/v1/compare?after=3").at("before").at("nightly").at("id"), 2);
  EXPECT_TRUE(read("/api/v1/compare?after=1").at("before").is_null());
}

TEST_F(ComparisonTest, ListsTestsOfOnlyOneSide) {
  api.fill([](storage::Store& store) {
    measure(store, NightlyId{1}, "local", "test_eval[maml-cpu-eager]", 5);
    measure(store, NightlyId{2}, "local", "test_train[mine-cpu-eager]", 5);
  });

  auto const compared = read("/api/v1/compare");

  ASSERT_THAT(compared.at("only_before"), SizeIs(1));
  EXPECT_EQ(compared.at("only_before").at(0).at("model"), "maml");
  EXPECT_EQ(compared.at("only_before").at(0).at("test"), "eval");
  ASSERT_THAT(compared.at("only_after"), SizeIs(1));
  EXPECT_EQ(compared.at("only_after").at(0).at("model"), "mine");
  EXPECT_TRUE(compared.at("only_after").at(0).at("domain").is_null()) << "a user's own model";
}

TEST_F(ComparisonTest, ComparesBackendsAndFleetsOfOneNightly) {
  api.fill([](storage::Store& store) {
    measure(store, NightlyId{2}, "local", "test_train[dlrm-cpu-script]", 6);
    measure(store, NightlyId{2}, "gpu", "test_train[dlrm-cuda-eager]", 3);
  });
  auto const ratio_of = [this](std::string const& query) {
    auto const compared = read("/api/v1/compare?before=2&after=2&" + query);
    EXPECT_THAT(compared.at("rows"), SizeIs(1)) << query;
    return compared.at("rows").at(0).at("metrics").at("latency").at("ratio").get<double>();
  };

  EXPECT_EQ(ratio_of("before_backend=eager&after_backend=script&before_fleet=local"), 0.5);
  EXPECT_EQ(ratio_of("before_fleet=local&after_fleet=gpu&after_backend=eager"), 0.25);
  EXPECT_EQ(ratio_of("before_device=cpu&after_device=cuda&before_backend=eager"), 0.25);
  auto const all = read("/api/v1/compare?before=1&after=2");
  EXPECT_TRUE(all.at("after").at("fleet").is_null());
  EXPECT_EQ(all.at("rows").at(0).at("fleet"), "local");
  EXPECT_EQ(all.at("rows").at(0).at("backend"), "eager");
  EXPECT_THAT(all.at("only_after"), SizeIs(2));
}

/// Stores a process of nightly 2 with a throughput, and the nightly summary.
void measure_throughput(storage::Store& store, std::string const& benchmark, double per_second) {
  MetricKind const kind{.unit = "1/s", .is_higher_better = true};
  auto const tokens = declare_metric("tokens_per_s", kind).value();
  auto outcome = outcome_of(Campaign::of(NightlyId{2}), 0, 1);
  outcome.key.benchmark = parse_benchmark(benchmark).value();
  outcome.key.commit = sha_of('b');
  outcome.values = {{tokens, MetricValue{per_second, {per_second}}}};
  store.jobs().record({outcome});
  store.histories().keep(NightlyId{2});
}

TEST_F(ComparisonTest, ComparesCompilersOnOneNightlyByDomain) {
  api.fill([](storage::Store& store) {
    measure(store, NightlyId{2}, "local", "test_train[dlrm-cpu-inductor]", 6);
    measure(store, NightlyId{2}, "local", "test_train[resnet18-cpu-eager]", 40);
    measure(store, NightlyId{2}, "local", "test_train[resnet18-cpu-inductor]", 30);
  });

  auto const compared =
      read("/api/v1/compare?before=2&after=2&before_backend=eager&after_backend=inductor");

  EXPECT_EQ(compared.at("before").at("backend"), "eager");
  EXPECT_EQ(compared.at("after").at("backend"), "inductor");
  EXPECT_THAT(compared.at("rows"), SizeIs(2));
  std::map<std::string, double> means;
  for (auto const& mean : compared.at("means"))
    if (mean.at("metric") == "latency")
      means[mean.at("domain").is_null() ? std::string{} : mean.at("domain").get<std::string>()] =
          mean.at("ratio").get<double>();
  EXPECT_NEAR(means.at(""), std::sqrt(0.5 * 0.75), 1e-12);
  EXPECT_NEAR(means.at("RECOMMENDATION"), 0.5, 1e-12);
  EXPECT_NEAR(means.at("COMPUTER_VISION"), 0.75, 1e-12);
}

TEST_F(ComparisonTest, HasRatiosAsMeasuredWhereHigherIsBetter) {
  api.fill([](storage::Store& store) {
    measure_throughput(store, "test_eval[nanogpt-cpu-old]", 1000);
    measure_throughput(store, "test_eval[nanogpt-cpu-new]", 1250);
  });

  auto const compared =
      read("/api/v1/compare?before=2&after=2&before_backend=old&after_backend=new");

  auto const& row = compared.at("rows").at(0).at("metrics").at("tokens_per_s");
  EXPECT_EQ(row.at("ratio"), 1.25);
  EXPECT_EQ(compared.at("means").at(0).at("ratio"), 1.25);
  json const kind{{"metric", "tokens_per_s"}, {"unit", "1/s"}, {"better", "higher"}};
  auto const& metrics = compared.at("metrics");
  EXPECT_EQ(metrics.at(0).at("metric"), "latency") << "native metrics come first";
  EXPECT_NE(std::find(metrics.begin(), metrics.end(), kind), metrics.end());
  EXPECT_EQ(read("/api/v1/sides").at("metrics").back(), kind);
}

TEST_F(ComparisonTest, HasSharesOfGpuTime) {
  api.fill([](storage::Store& store) {
    auto profiled = outcome_of(Campaign::profile(IncidentId{1}), 0, 12);
    profiled.key.commit = sha_of('b');
    profiled.accounts = {
        {"gpu_active_share", 0.5}, {"gpu_data_movement_share", 0.1}, {"gpu_idle_share", 0.4}};
    store.jobs().record({profiled});
  });

  auto const gpu = read("/api/v1/compare").at("gpu");

  EXPECT_THAT(gpu.at("before"), IsEmpty());
  ASSERT_THAT(gpu.at("after"), SizeIs(1));
  EXPECT_EQ(gpu.at("after").at(0).at("active"), 0.5);
  EXPECT_EQ(gpu.at("after").at(0).at("domain"), "RECOMMENDATION");
}

JobOutcome profiled(Campaign const& campaign, CommitSha const& commit, double active) {
  auto outcome = outcome_of(campaign, 0, 12);
  outcome.key.commit = commit;
  outcome.accounts = {{"gpu_active_share", active},
                      {"gpu_data_movement_share", 0.1},
                      {"gpu_idle_share", 0.9 - active}};
  return outcome;
}

TEST_F(ComparisonTest, UsesLastProfileOfSuiteWithoutAnother) {
  api.fill([](storage::Store& store) {
    auto other = profiled(Campaign::suite_profile(NightlyId{1}), sha_of('a'), 0.3);
    other.key.benchmark = parse_benchmark("test_eval[dcgan-cuda-eager]").value();
    store.jobs().record({other,
                         profiled(Campaign::suite_profile(NightlyId{1}), sha_of('a'), 0.4),
                         profiled(Campaign::profile(IncidentId{1}), sha_of('b'), 0.5)});
  });

  auto const gpu = read("/api/v1/compare").at("gpu");

  ASSERT_THAT(gpu.at("before"), SizeIs(2));
  ASSERT_THAT(gpu.at("after"), SizeIs(2));
  EXPECT_EQ(gpu.at("before").at(1).at("active"), 0.4);
  EXPECT_EQ(gpu.at("after").at(0).at("active"), 0.3);
  EXPECT_EQ(gpu.at("after").at(0).at("date"), gpu.at("before").at(0).at("date"));
  EXPECT_EQ(gpu.at("after").at(1).at("active"), 0.5) << "profiled for the incident";
  EXPECT_NE(gpu.at("after").at(1).at("date"), gpu.at("before").at(1).at("date"));
}

TEST_F(ComparisonTest, RefusesUnknownSides) {
  std::string const nightly = ", allowed the id of a nightly that was measured (/api/v1/sides)";
  expect_refused("before=9", "before", "found \"9\"" + nightly);
  expect_refused("after=soon", "after", "found \"soon\"" + nightly);
  expect_refused("after=3", "after", "found \"3\"" + nightly);  // only announced
  expect_refused("before_fleet=moon", "before_fleet", R"(found "moon", allowed "local")");
  expect_refused("after_fleet=moon", "after_fleet", R"(found "moon", allowed "local")");
  expect_refused("after_device=tpu", "after_device", R"(found "tpu", allowed "cpu")");
  expect_refused("before_backend=jit", "before_backend", R"(found "jit", allowed "eager")");
  expect_refused("after_device=", "after_device", R"(found "", allowed "cpu")");
  auto const error = refusal_of("threshold=7");
  EXPECT_EQ(error.at("field"), "threshold");
  EXPECT_THAT(error.at("detail").get<std::string>(),
              StartsWith("found an unknown parameter, allowed before, after, before_fleet"));
}

TEST_F(ComparisonTest, CutsLongValuesInErrors) {
  auto const error = refusal_of("after_fleet=" + std::string(1000, 'x'));
  EXPECT_THAT(error.at("detail").get<std::string>(), HasSubstr("xxx...\""));
  EXPECT_LT(error.at("detail").get<std::string>().size(), 200U);
}

TEST_F(ComparisonTest, SidesListNightliesFleetsDevicesAndBackends) {
  api.fill([](storage::Store& store) {
    measure(store, NightlyId{2}, "gpu", "test_train[dlrm-cuda-script]", 6);
  });

  auto const sides = read("/api/v1/sides");

  EXPECT_EQ(sides.at("nightlies").at("id"), json::array({2, 1})) << "nightly 3 has no measurements";
  EXPECT_EQ(sides.at("nightlies").at("date"), json::array({"2026-01-02", "2026-01-01"}));
  EXPECT_EQ(sides.at("fleets"), json::array({"gpu", "local"}));
  EXPECT_EQ(sides.at("devices"), json::array({"cpu", "cuda"}));
  EXPECT_EQ(sides.at("backends"), json::array({"eager", "script"}));
  EXPECT_EQ(sides.at("metrics").at(0),
            json({{"metric", "latency"}, {"unit", "ms"}, {"better", "lower"}}));
}

}  // namespace
}  // namespace torchwatch::tests
