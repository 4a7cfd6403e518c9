#include <algorithm>
#include <iostream>

#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "daemon/async/run.h"
#include "daemon/commands/commands.h"
#include "daemon/commands/measure_now.h"
#include "daemon/commands/progress.h"
#include "daemon/fleets.h"

namespace torchwatch::commands {
namespace {

namespace asio = boost::asio;

asio::awaitable<std::vector<JobOutcome>> measure_all(Fleet& fleet,
                                                     config::Options const& options,
                                                     Build const& build,
                                                     BenchRequest const& request) {
  std::vector<JobOutcome> outcomes;
  auto lease = co_await fleet.lease();
  for (auto const& benchmark : request.benchmarks) {
    auto const title =
        fmt::format("{}/{} {}", outcomes.size() + 1, request.benchmarks.size(), name_of(benchmark));
    print_progress(title);
    auto job = job_now(options, build, request, benchmark);
    outcomes.push_back(co_await measure_now(lease, std::move(job), title));
  }
  print_fleeting_progress("");
  co_return outcomes;
}

nlohmann::ordered_json operators_in(JobOutcome const& outcome) {
  auto operators = nlohmann::ordered_json::array();
  for (auto const& [name, calls, ms, bytes] : outcome.profile)
    operators.push_back({{"name", name}, {"calls", calls}, {"ms", ms}, {"bytes", bytes}});
  return operators;
}

nlohmann::ordered_json to_json(std::vector<JobOutcome> const& outcomes) {
  auto results = nlohmann::ordered_json::array();
  for (auto const& outcome : outcomes) {
    nlohmann::ordered_json result;
    result["benchmark"] = name_of(outcome.key.benchmark);
    if (!outcome.ok()) result["error"] = {{"code", outcome.error_code}, {"text", outcome.error}};
    for (auto const& [metric, value] : outcome.values) {
      result["metrics"][std::string{to_string(metric)}] = {{"value", value.value},
                                                           {"unit", unit_of(metric)},
                                                           {"samples", value.samples},
                                                           {"outliers", value.outliers}};
    }
    result["accounts"] = outcome.accounts;
    if (!outcome.profile.empty()) result["operators"] = operators_in(outcome);
    result["pytorch_version"] = outcome.version;
    result["fingerprint"] = nlohmann::ordered_json::parse(outcome.fingerprint);
    result["seconds"] = outcome.seconds;
    results.push_back(std::move(result));
  }
  return results;
}

/// "12.345", or "-" where the metric was not measured.
std::string cell(JobOutcome const& outcome, Metric metric, double unit, int digits) {
  auto const value = outcome.values.find(metric);
  if (value == outcome.values.end()) return "-";
  return fmt::format("{:.{}f}", value->second.value / unit, digits);
}

void print_table(std::vector<JobOutcome> const& outcomes) {
  constexpr double mib = 1 << 20;
  constexpr auto row = "{:<42} {:>12} {:>11} {:>11} {:>12} {:>8}\n";
  std::cout << fmt::format(
      row, "benchmark", "latency ms", "cmem MiB", "gmem MiB", "leak B/iter", "s");
  for (auto const& outcome : outcomes) {
    auto const name = name_of(outcome.key.benchmark);
    if (!outcome.ok()) {
      std::cout << fmt::format("{:<42} {}: {}\n", name, outcome.error_code, outcome.error);
      continue;
    }
    std::cout << fmt::format(row,
                             name,
                             cell(outcome, Metric::latency, 1, 3),
                             cell(outcome, Metric::cmem, mib, 2),
                             cell(outcome, Metric::gmem, mib, 2),
                             cell(outcome, Metric::leak, 1, 0),
                             fmt::format("{:.1f}", outcome.seconds));
  }
}

/// The operators that take most of an iteration, themselves.
void print_operators(JobOutcome const& outcome) {
  constexpr std::size_t most_rows = 12;
  constexpr auto row = "  {:<44} {:>9} {:>10} {:>13}\n";
  auto operators = outcome.profile;
  std::ranges::stable_sort(operators, std::ranges::greater{}, &OperatorCost::ms);
  if (operators.size() > most_rows) operators.resize(most_rows);
  std::cout << '\n' << name_of(outcome.key.benchmark) << '\n';
  std::cout << fmt::format(row, "operator", "calls", "ms", "allocated KiB");
  for (auto const& [name, calls, ms, bytes] : operators)
    std::cout << fmt::format(row,
                             name,
                             fmt::format("{:g}", calls),
                             fmt::format("{:.3f}", ms),
                             fmt::format("{:.1f}", bytes / 1024));
  for (auto const* const account :
       {"gpu_active_share", "gpu_data_movement_share", "gpu_idle_share", "tflops"})
    if (auto const found = outcome.accounts.find(account); found != outcome.accounts.end())
      std::cout << fmt::format("  {:<44} {:>9.3f}\n", account, found->second);
}

}  // namespace

int bench(config::Options const& options, Place const& place, BenchRequest const& request) {
  auto const build = build_at(request.prefix);
  if (!build) {
    std::cerr << "torchwatch bench: " << build.error().message << '\n';
    return could_not_run;
  }
  asio::io_context loop{1};
  Fleets fleets{loop.get_executor(), options.fleets, place.executable};
  auto const outcomes =
      run_until_signal(loop, measure_all(fleets.all().front(), options, *build, request));
  if (request.as_json)
    std::cout << to_json(outcomes).dump(2) << '\n';
  else
    print_table(outcomes);
  if (!request.as_json && request.profile)
    for (auto const& outcome : outcomes)
      if (outcome.ok()) print_operators(outcome);
  bool const all_ok = std::all_of(
      outcomes.begin(), outcomes.end(), [](JobOutcome const& outcome) { return outcome.ok(); });
  return all_ok ? 0 : could_not_run;
}

}  // namespace torchwatch::commands
