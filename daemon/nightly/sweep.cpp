#include "daemon/nightly/sweep.h"

#include <algorithm>
#include <list>
#include <utility>

#include <spdlog/spdlog.h>

#include "bisect/compare/baseline.h"
#include "daemon/async/when_all.h"
#include "daemon/builds/manifest.h"
#include "daemon/measure/job.h"
#include "storage/domain/campaign.h"

namespace torchwatch::nightly {
namespace asio = boost::asio;

asio::awaitable<Result<>> Sweep::run(Nightly& nightly) {
  auto const builds = builds_of(nightly);
  if (!builds) co_return builds.error();
  std::list<std::deque<Task>> queues;
  std::vector<asio::awaitable<Result<>>> slots;
  for (auto const& fleet : options_.fleets) {
    auto& queue = queues.emplace_back();
    for (int round = 0; round < options_.decide.sweep_pairs; ++round)
      for (auto const& benchmark : measure::benchmarks_of(options_.suite, fleet.device))
        queue.push_back({benchmark, round});
    spdlog::info("sweep_started date={} baseline={} fleet={} left={}",
                 nightly.date,
                 builds->size() > 1 ? short_of(builds->front().manifest.commit) : "none",
                 fleet.name,
                 queue.size());
    for (int slot = 0; slot < fleet.slots; ++slot)
      slots.push_back(run_tasks(fleet.name, nightly, *builds, queue));
  }
  auto const swept = co_await async::when_all(std::move(slots));
  for (auto const& result : swept)
    if (!result) co_return result.error();
  nightly.failure = why_nothing_was_measured(nightly);
  co_return Result<>{};
}

/// What is measured side by side: the baseline, if there is one, and the nightly.
Result<std::vector<Build>> Sweep::builds_of(Nightly& nightly) {
  auto build = builds::read_build_of(nightly);
  if (!build) return build.error();
  auto baseline = choose_baseline(nightly);
  if (!baseline) return baseline.error();
  std::vector<Build> builds;
  if (*baseline) builds.push_back(std::move(**baseline));
  builds.push_back(std::move(*build));
  return builds;
}

asio::awaitable<Result<>> Sweep::run_tasks(std::string fleet,
                                           Nightly const& nightly,
                                           std::vector<Build> const& builds,
                                           std::deque<Task>& tasks) {
  while (!tasks.empty()) {
    auto const task = tasks.front();
    tasks.pop_front();
    measure::RoundKey key{Campaign::of(nightly.id), fleet, task.benchmark, task.round};
    auto of_round = builds;
    auto const measured = co_await rounds_.measure(std::move(key), std::move(of_round));
    if (!measured) co_return measured.error();
    spdlog::info("sweep_progress date={} fleet={} left={}", nightly.date, fleet, tasks.size());
  }
  co_return Result<>{};
}

/// Once: a sweep that is taken up again goes on beside the same build, whatever came meanwhile. One
/// whose build has gone gives way to the one before.
Result<std::optional<Build>> Sweep::choose_baseline(Nightly& nightly) {
  auto nightlies = store_.nightlies().all();
  auto baseline = nightly.baseline ? store_.nightlies().find(*nightly.baseline)
                                   : bisect::baseline_of(nightly, nightlies);
  nightly.baseline.reset();
  for (; baseline; baseline = bisect::baseline_of(nightly, nightlies)) {
    auto build = builds::read_build_of(*baseline);
    if (build) {
      nightly.baseline = baseline->id;
      store_.nightlies().update(nightly);
      // The same commit built twice: there is nothing to compare.
      if (baseline->commit == nightly.commit) return std::nullopt;
      return std::move(*build);
    }
    if (build.error().code == ErrorCode::unavailable) return build.error();
    spdlog::warn("baseline_unusable date={} baseline={} reason=\"{}\"",
                 nightly.date,
                 baseline->date,
                 build.error().message);
    std::erase_if(nightlies, [&](Nightly const& one) { return one.id == baseline->id; });
  }
  return std::nullopt;
}

/// Empty when any job of the sweep gave a result on the nightly itself.
std::string Sweep::why_nothing_was_measured(Nightly const& nightly) {
  std::string first;
  int failed = 0;
  for (auto const& job : store_.jobs().of(Campaign::of(nightly.id))) {
    if (job.key.commit != nightly.commit) continue;
    if (job.ok()) return {};
    if (first.empty()) first = measure::failure_of(job);
    ++failed;
  }
  if (failed == 0) return {};
  return "none of " + std::to_string(failed) + " jobs gave a result; the first: " + first;
}

std::vector<measure::SeriesGroup> swept(storage::Store& store,
                                        Nightly const& nightly,
                                        std::vector<config::FleetOptions> const& fleets) {
  std::vector<Series> series;
  for (auto const& job : store.jobs().values_of(Campaign::of(nightly.id), 1)) {
    bool const is_its = job.key.commit == nightly.commit && job.values.contains(Metric::latency);
    if (is_its && std::ranges::count(fleets, job.key.fleet, &config::FleetOptions::name) > 0)
      series.push_back({job.key.fleet, job.key.benchmark, Metric::latency});
  }
  return measure::by_benchmark(series);
}

}  // namespace torchwatch::nightly
