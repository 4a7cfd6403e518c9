#include <iostream>

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "daemon/cli/batch_size.h"
#include "daemon/cli/bench_request.h"
#include "daemon/cli/command_line.h"
#include "daemon/cli/measure_now.h"
#include "daemon/cli/terminal.h"

namespace torchwatch::cli {
namespace {

namespace asio = boost::asio;

struct Found {
  Benchmark benchmark;
  BatchSearch search;
  std::vector<JobOutcome> outcomes;  ///< one per trial
};

asio::awaitable<Found> search_batch(measure::Slot& slot,
                                    config::Options const& options,
                                    Build const& build,
                                    BenchRequest const& request,
                                    Benchmark const& benchmark) {
  Found found{benchmark, {}, {}};
  while (auto const batch = found.search.next()) {
    auto const title = fmt::format("{} batch {}", name_of(benchmark), *batch);
    print_progress(title);
    auto job = job_now(options, build, request, benchmark);
    job.measure.batch = *batch;
    auto outcome = co_await measure_now(slot, std::move(job), title);
    if (outcome.ok())
      found.search.add_latency(outcome.values.at(Metric::latency).value);
    else
      found.search.add_failure();
    found.outcomes.push_back(std::move(outcome));
  }
  co_return found;
}

asio::awaitable<std::vector<Found>> search_all(measure::Slot& slot,
                                               config::Options const& options,
                                               Build const& build,
                                               BenchRequest const& request) {
  std::vector<Found> all;
  for (auto const& benchmark : request.benchmarks)
    all.push_back(co_await search_batch(slot, options, build, request, benchmark));
  print_fleeting_progress("");
  co_return all;
}

nlohmann::ordered_json to_json(std::vector<Found> const& all) {
  auto results = nlohmann::ordered_json::array();
  for (auto const& [benchmark, search, outcomes] : all) {
    nlohmann::ordered_json result;
    result["benchmark"] = name_of(benchmark);
    auto const best = search.best();
    result["best_batch"] = best ? nlohmann::ordered_json(best->batch) : nullptr;
    result["trials"] = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      nlohmann::ordered_json trial{{"batch", search.trials()[i].batch}};
      if (outcomes[i].ok()) trial["samples_per_second"] = search.trials()[i].per_second;
      for (auto const& [metric, value] : outcomes[i].values)
        trial[std::string{to_string(metric)}] = value.value;
      if (!outcomes[i].ok())
        trial["error"] = {{"code", to_string(*outcomes[i].error_code)},
                          {"text", outcomes[i].error}};
      result["trials"].push_back(std::move(trial));
    }
    results.push_back(std::move(result));
  }
  return results;
}

void print_table(Found const& found) {
  constexpr auto row = "{:>10} {:>12} {:>13} {:>10} {:>10}\n";
  std::cout << name_of(found.benchmark) << '\n';
  std::cout << fmt::format(row, "batch", "latency ms", "samples/s", "cmem MiB", "gmem MiB");
  for (std::size_t i = 0; i < found.outcomes.size(); ++i) {
    auto const& [batch, per_second] = found.search.trials()[i];
    auto const& outcome = found.outcomes[i];
    if (!outcome.ok()) {
      std::cout << fmt::format(
          "{:>10} {}: {}\n", batch, to_string(*outcome.error_code), outcome.error);
      continue;
    }
    std::cout << fmt::format(row,
                             batch,
                             cell(outcome, Metric::latency, 1, 3),
                             fmt::format("{:.1f}", per_second),
                             cell(outcome, Metric::cmem, mib, 1),
                             cell(outcome, Metric::gmem, mib, 1));
  }
  auto const best = found.search.best();
  std::cout << (best ? fmt::format("best batch: {}\n", best->batch)
                     : "no batch runs: the one of 1 sample failed\n");
}

}  // namespace

int find_batch(config::Options const& options,
               Invocation const& invocation,
               BenchRequest const& request) {
  auto const measured = run_now(options, invocation, request, search_all);
  if (!measured) return complain("bench", measured.error().message);
  auto const& all = *measured;
  if (request.as_json)
    std::cout << to_json(all).dump(2) << '\n';
  else
    for (auto const& found : all)
      print_table(found);
  bool const all_found =
      std::ranges::all_of(all, [](Found const& found) { return found.search.best().has_value(); });
  return all_found ? nothing_found : could_not_run;
}

}  // namespace torchwatch::cli
