#include "daemon/cli/suite_levels.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include "storage/base/printable.h"
#include "storage/domain/benchmark.h"
#include "storage/domain/words.h"

namespace torchwatch::cli {
namespace {

constexpr auto file_form =
    "the output of \"torchwatch bench --json\", or TorchBench's metrics file";

Error bad_file(std::string const& file, std::string const& found) {
  return Error{ErrorCode::invalid_argument,
               file + ": found " + found + ", allowed is " + file_form};
}

void skip(SuiteLevels& side, std::string const& metric, std::string_view reason) {
  side.skipped.push_back(fmt::format("{} ({})", printable(metric), reason));
}

void add_level(SuiteLevels& side, Benchmark const& benchmark, Metric metric, double level) {
  side.levels.push_back({Series{"", benchmark, metric}, level});
}

/// Returns the metric of a result of `bench --json`, which describes it. Declares it if no suite of
/// the configuration does. The message of the error is the reason to skip the result.
Result<Metric> metric_of_result(std::string const& word, nlohmann::json const& result) {
  auto const known = parse_metric(word);
  if (!result.contains("unit") || !result.contains("better")) {
    if (known) return *known;
    return Error{ErrorCode::not_found, "unknown metric"};
  }
  MetricKind kind;
  kind.unit = result.at("unit").get<std::string>();
  kind.is_higher_better = result.at("better") == "higher";
  if (!known) return declare_metric(word, kind);
  auto const& declared = known->kind();
  if (declared.unit == kind.unit && declared.is_higher_better == kind.is_higher_better)
    return *known;
  return Error{ErrorCode::invalid_argument,
               fmt::format("in {}, {} is better, but declared in {}, {} is better",
                           kind.unit,
                           kind.is_higher_better ? "higher" : "lower",
                           declared.unit,
                           words::better(*known))};
}

/// Reads the output of `bench --json`: benchmarks with their metrics. Failed ones have none.
Result<SuiteLevels> read_bench(std::string const& file, nlohmann::json const& results) {
  SuiteLevels side;
  std::set<Benchmark> known;
  for (auto const& result : results) {
    auto const name = result.value("benchmark", "");
    auto const benchmark = parse_benchmark(name);
    if (!benchmark) return bad_file(file, "benchmark \"" + name + "\"");
    if (!known.insert(*benchmark).second) return bad_file(file, name + " twice");
    auto const metrics = result.value("metrics", nlohmann::json::object());
    for (auto const& [word, value] : metrics.items()) {
      if (auto const metric = metric_of_result(word, value))
        add_level(side, *benchmark, *metric, value.at("value").get<double>());
      else
        skip(side, name + "_" + word, metric.error().message);
    }
  }
  return side;
}

/// Adds one metric of TorchBench's, "test_eval[...]_latency", or returns the reason to skip it.
/// Memory is in GB, which does not change ratios. A benchmark that failed has -1.
std::string_view add_metric(SuiteLevels& side,
                            std::string const& name,
                            nlohmann::json const& value) {
  auto const end = name.rfind("]_");
  auto const benchmark = parse_benchmark(name.substr(0, end == std::string::npos ? 0 : end + 1));
  if (!benchmark) return "no known benchmark";
  auto const metric = parse_metric(name.substr(end + 2));
  if (!metric) return "unknown metric";
  if (!value.is_number()) return "not a number";
  auto const level = value.get<double>();
  if (level < 0) return "failed";
  add_level(side, *benchmark, *metric, level);
  return {};
}

/// Reads TorchBench's metrics file: {"metrics": {"test_eval[...]_latency": 60.1}}.
Result<SuiteLevels> read_metrics(std::string const& file, nlohmann::json const& metrics) {
  SuiteLevels side;
  for (auto const& [name, value] : metrics.items())
    if (auto const reason = add_metric(side, name, value); !reason.empty())
      skip(side, name, reason);
  if (side.levels.empty()) return bad_file(file, "no metric of a known benchmark");
  return side;
}

}  // namespace

Result<SuiteLevels> read_levels(std::string const& file, std::istream& text) {
  auto const document = nlohmann::json::parse(text, nullptr, false);
  if (document.is_discarded()) return bad_file(file, "text that is not JSON");
  try {
    if (document.is_array()) return read_bench(file, document);
    if (document.is_object() && document.contains("metrics"))
      return read_metrics(file, document.at("metrics"));
  } catch (nlohmann::json::exception const& problem) {
    return bad_file(file, problem.what());
  }
  return bad_file(file, "JSON of another form");
}

std::string line_of_skipped(std::string const& file, std::vector<std::string> const& skipped) {
  constexpr std::size_t most = 10;
  if (skipped.empty()) return {};
  auto const shown = std::span{skipped}.first(std::min(skipped.size(), most));
  auto const rest = skipped.size() - shown.size();
  return fmt::format("{}: skipped {} metric{}: {}{}\n",
                     file,
                     skipped.size(),
                     skipped.size() == 1 ? "" : "s",
                     fmt::join(shown, ", "),
                     rest == 0 ? "" : fmt::format(" and {} more", rest));
}

}  // namespace torchwatch::cli
