#include "daemon/nightly/sweep.h"

#include <algorithm>
#include <cstddef>
#include <list>
#include <set>
#include <utility>

#include <spdlog/spdlog.h>

#include "bisect/compare/baseline.h"
#include "daemon/async/when_all.h"
#include "daemon/builds/manifest.h"
#include "daemon/measure/job.h"
#include "storage/domain/campaign.h"

namespace torchwatch::nightly {
namespace asio = boost::asio;

namespace {

/// Returns the date of the oldest summary; `date` when all are newer.
std::string oldest_of(std::vector<SeriesNights> const& all, std::string date) {
  for (auto const& one : all)
    for (auto const& night : one.nights)
      date = std::min(date, night.date);
  return date;
}

/// Returns the benchmarks in the order of a round. Rounds of one length go to the slots in turn.
/// Then each benchmark would come to the same slot in every round, or, by this order, to the next
/// one: only benchmarks that several slots measure show how the slots differ.
std::vector<Benchmark> in_order_of(int round,
                                   std::vector<Benchmark> benchmarks,
                                   std::size_t slots) {
  if (slots < 2 || benchmarks.empty()) return benchmarks;
  auto const count = benchmarks.size();
  auto const first = static_cast<std::size_t>(round) * (count - 1) % slots % count;
  std::ranges::rotate(benchmarks, benchmarks.begin() + static_cast<std::ptrdiff_t>(first));
  return benchmarks;
}

/// Returns the benchmarks that a quarantined slot measures on each night, spread over all.
std::vector<Benchmark> benchmarks_to_check(std::vector<Benchmark> const& all) {
  constexpr std::size_t most = 24;
  auto const count = std::min(most, all.size());
  std::vector<Benchmark> some;
  for (std::size_t i = 0; i < count; ++i)
    some.push_back(all[i * all.size() / count]);
  return some;
}

}  // namespace

asio::awaitable<Result<>> Sweep::run(Nightly& nightly) {
  auto const builds = builds_of(nightly);
  if (!builds) co_return builds.error();
  std::list<std::deque<Task>> queues;
  std::vector<asio::awaitable<Result<>>> slots;
  for (auto const& fleet : options_.fleets) {
    auto& queue = queues.emplace_back();
    auto const all = measure::benchmarks_of(options_, fleet);
    auto const quarantined = store_.slots().quarantined(fleet.name);
    auto const in_use = static_cast<std::size_t>(fleet.slots) - quarantined.size();
    for (int round = 0; round < options_.decide.sweep_pairs; ++round)
      for (auto const& benchmark : in_order_of(round, all, in_use))
        queue.push_back({benchmark, round});
    spdlog::info(
        "sweep_started date={} baseline={} fleet={} left={}",
        nightly.date,
        builds->usual.size() > 1 ? short_of(builds->usual.front().manifest.commit) : "none",
        fleet.name,
        queue.size());
    for (int slot = 0; slot < fleet.slots; ++slot)
      slots.push_back(run_tasks(fleet.name, nightly, *builds, queue));
    for (auto const slot : quarantined)
      slots.push_back(check_slot(fleet.name, slot, nightly, *builds, benchmarks_to_check(all)));
  }
  auto const swept = co_await async::when_all(std::move(slots));
  for (auto const& result : swept)
    if (!result) co_return result.error();
  nightly.failure = why_nothing_was_measured(nightly);
  co_return Result<>{};
}

/// Returns the builds of a sweep. A benchmark whose series have different baselines is measured
/// with all of them.
Result<Sweep::Builds> Sweep::builds_of(Nightly& nightly) {
  auto build = builds::read_build_of(nightly);
  if (!build) return build.error();
  auto const baseline = choose_baseline(nightly);
  if (!baseline) return baseline.error();
  auto older = builds_of_series(store_, nightly);
  if (!older) return older.error();
  Builds builds{{*build}, {}};
  if (!*baseline) return builds;
  // The same commit built twice: there is nothing to compare.
  if ((*baseline)->manifest.commit != nightly.commit) builds.usual = {**baseline, *build};
  if (older->empty()) return builds;
  measure::BuildPair const pair{Campaign::of(nightly.id), **baseline, *build, std::move(*older)};
  std::map<FleetBenchmark, std::vector<Series>> benchmarks;
  for (auto const& [series, nights] : configured_series(options_, store_))
    benchmarks[{series.fleet, series.benchmark}].push_back(series);
  for (auto const& [which, series] : benchmarks)
    builds.others[which] = measure::builds_for(series, pair);
  return builds;
}

asio::awaitable<Result<>> Sweep::run_tasks(std::string fleet,
                                           Nightly const& nightly,
                                           Builds const& builds,
                                           std::deque<Task>& tasks) {
  while (!tasks.empty()) {
    auto const task = tasks.front();
    tasks.pop_front();
    measure::RoundKey key{Campaign::of(nightly.id), fleet, task.benchmark, task.round};
    auto const others = builds.others.find({fleet, task.benchmark});
    auto of_round = others == builds.others.end() ? builds.usual : others->second;
    auto const measured = co_await rounds_.measure(std::move(key), std::move(of_round));
    if (!measured) co_return measured.error();
    spdlog::info("sweep_progress date={} fleet={} left={}", nightly.date, fleet, tasks.size());
  }
  co_return Result<>{};
}

/// Measures benchmarks on a quarantined slot. It may stay out of service without failing the sweep.
asio::awaitable<Result<>> Sweep::check_slot(std::string fleet,
                                            std::size_t slot,
                                            Nightly const& nightly,
                                            Builds const& builds,
                                            std::vector<Benchmark> benchmarks) {
  for (auto const& benchmark : benchmarks) {
    measure::RoundKey key{Campaign::slot_check(nightly.id, slot), fleet, benchmark};
    key.slot = slot;
    auto const others = builds.others.find({fleet, benchmark});
    auto of_round = others == builds.others.end() ? builds.usual : others->second;
    auto const measured = co_await rounds_.measure(std::move(key), std::move(of_round));
    if (measured) continue;
    spdlog::warn("slot_check_stopped slot=\"{}\" reason=\"{}\"",
                 slot_subject(fleet, slot),
                 measured.error().message);
    break;
  }
  co_return Result<>{};
}

/// Chooses the baseline once, so that a resumed sweep uses the same build even if other nightlies
/// arrived. A baseline whose build is gone is replaced by the one before.
Result<std::optional<Build>> Sweep::choose_baseline(Nightly& nightly) {
  std::set<NightlyId> unusable;
  auto const next = [&] {
    return store_.nightlies().last_before(nightly, [&](Nightly const& one) {
      return bisect::can_be_baseline(one, nightly) && !unusable.contains(one.id);
    });
  };
  auto const chosen = nightly.baseline;
  nightly.baseline.reset();
  for (auto baseline = chosen ? store_.nightlies().find(*chosen) : next(); baseline;
       baseline = next()) {
    auto build = builds::read_build_of(*baseline);
    if (build) {
      if (chosen == baseline->id) nightly.baseline = chosen;
      auto const of_series = choose_baselines_of_series(nightly, *baseline);
      if (!of_series) return of_series.error();
      nightly.baseline = baseline->id;
      store_.nightlies().update(nightly);  // last: a killed choice is repeated
      return std::move(*build);
    }
    if (build.error().code == ErrorCode::unavailable) return build.error();
    spdlog::warn("baseline_unusable date={} baseline={} reason=\"{}\"",
                 nightly.date,
                 baseline->date,
                 build.error().message);
    unusable.insert(baseline->id);
  }
  store_.baselines().choose(nightly.id, {});
  return std::nullopt;
}

/// Chooses these baselines once as well: `nightly.baseline` is set when it was done. A series whose
/// older build is gone is compared with the usual baseline.
Result<> Sweep::choose_baselines_of_series(Nightly const& nightly, Nightly const& usual) {
  auto baselines =
      nightly.baseline ? store_.baselines().of(nightly.id) : new_baselines(nightly, usual);
  std::set<NightlyId> nightlies;
  for (auto const& [series, baseline] : baselines)
    nightlies.insert(baseline);
  for (auto const id : nightlies) {
    auto const usable = is_usable(nightly, store_.nightlies().find(id).value());
    if (!usable) return usable.error();
    if (!*usable) std::erase_if(baselines, [&](auto const& one) { return one.second == id; });
  }
  store_.baselines().choose(nightly.id, baselines);
  return {};
}

std::map<Series, NightlyId> Sweep::new_baselines(Nightly const& nightly, Nightly const& usual) {
  bisect::JudgedSeries const history{configured_series(options_, store_), store_.rulings().all()};
  // A nightly without a summary in the history is no baseline of a series.
  auto const nightlies = store_.nightlies().since(oldest_of(history.nights, nightly.date));
  auto found = bisect::series_baselines(nightly, usual, nightlies, history);
  for (auto const& [series, baseline] : found.older)
    spdlog::info("series_baseline date={} fleet={} series={} baseline={}",
                 nightly.date,
                 series.fleet,
                 name_of(series),
                 store_.nightlies().find(baseline).value().date);
  if (!found.lost.empty())
    spdlog::warn("series_baseline_lost date={} baseline={} series={} first={}",
                 nightly.date,
                 usual.date,
                 found.lost.size(),
                 name_of(found.lost.front()));
  return std::move(found.older);
}

/// True when the build of an older baseline can be measured.
Result<bool> Sweep::is_usable(Nightly const& nightly, Nightly const& baseline) {
  auto const build = builds::read_build_of(baseline);
  if (build) return true;
  if (build.error().code == ErrorCode::unavailable) return build.error();
  spdlog::warn("series_baseline_unusable date={} baseline={} reason=\"{}\"",
               nightly.date,
               baseline.date,
               build.error().message);
  return false;
}

/// Returns the reason why the sweep has no result on the nightly; empty when it has one.
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

std::vector<SeriesNights> configured_series(config::Options const& options, storage::Store& store) {
  std::set<FleetBenchmark> configured;
  for (auto const& fleet : options.fleets)
    for (auto const& benchmark : measure::benchmarks_of(options, fleet))
      configured.insert({fleet.name, benchmark});
  auto nights = store.histories().recent(bisect::nightlies_to_wait);
  std::erase_if(nights, [&](SeriesNights const& one) {
    return !configured.contains({one.series.fleet, one.series.benchmark});
  });
  return nights;
}

std::vector<Series> not_judged(config::Options const& options,
                               storage::Store& store,
                               Nightly const& nightly) {
  std::vector<Series> series;
  for (auto const& [one, nights] : configured_series(options, store)) {
    bool const is_judged = std::ranges::any_of(nights, [&](NightOfSeries const& night) {
      return night.nightly == nightly.id && night.is_judged;
    });
    if (!is_judged) series.push_back(one);
  }
  return series;
}

Result<std::map<Series, Build>> builds_of_series(storage::Store& store, Nightly const& nightly) {
  std::map<NightlyId, Build> read;
  std::map<Series, Build> builds;
  for (auto const& [series, id] : store.baselines().of(nightly.id)) {
    if (!read.contains(id)) {
      auto build = builds::read_build_of(store.nightlies().find(id).value());
      if (!build) return build.error();
      read[id] = std::move(*build);
    }
    builds[series] = read[id];
  }
  return builds;
}

Metric main_metric_of(JobOutcome const& job) {
  if (job.values.contains(Metric::latency)) return Metric::latency;
  auto const noisy = std::ranges::find_if(
      job.values, [](auto const& value) { return !is_deterministic(value.first); });
  return noisy == job.values.end() ? job.values.begin()->first : noisy->first;
}

measure::SeriesPairs pairs_of(storage::Store& store, ComparedNight const& night, int rounds) {
  measure::BaselineCommits baselines{night.baseline.commit, {}};
  for (auto const& [series, baseline] : store.baselines().of(night.nightly.id))
    baselines.own[series] = store.nightlies().find(baseline).value().commit;
  return measure::pairs_of(store.jobs().values_of(Campaign::of(night.nightly.id), rounds),
                           night.nightly.commit,
                           baselines,
                           rounds);
}

std::vector<measure::SeriesGroup> swept(storage::Store& store,
                                        Nightly const& nightly,
                                        std::vector<config::FleetOptions> const& fleets) {
  std::vector<Series> series;
  for (auto const& job : store.jobs().values_of(Campaign::of(nightly.id), 1)) {
    bool const is_its = job.key.commit == nightly.commit && !job.values.empty();
    if (is_its && std::ranges::count(fleets, job.key.fleet, &config::FleetOptions::name) > 0)
      series.push_back({job.key.fleet, job.key.benchmark, main_metric_of(job)});
  }
  return measure::by_benchmark(series);
}

}  // namespace torchwatch::nightly
