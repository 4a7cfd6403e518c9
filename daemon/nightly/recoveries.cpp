#include "daemon/nightly/recoveries.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <spdlog/spdlog.h>

#include "bisect/compare/baseline.h"
#include "daemon/async/when_all.h"
#include "daemon/builds/manifest.h"
#include "daemon/nightly/life_rules.h"
#include "daemon/nightly/sweep.h"

namespace torchwatch::nightly {
namespace asio = boost::asio;

namespace {

/// Returns the last nightly that showed a regression of the series in the incident.
NightlyId last_regression(Incident const& incident, Series const& series) {
  auto last = incident.nightly;
  for (auto const& later : incident.later_series)
    if (later.series == series) last = later.nightly;
  return last;
}

bool has_series(std::vector<SeriesRecovery> const& recoveries, Series const& series) {
  return std::ranges::find(recoveries, series, &SeriesRecovery::series) != recoveries.end();
}

void log_not_compared(IncidentId incident, Nightly const& nightly, Error const& problem) {
  spdlog::warn("recovery_not_compared incident={} date={} reason=\"{}\"",
               incident.value,
               nightly.date,
               problem.message);
}

/// Returns the number of comparisons of the series on other nightlies.
std::size_t attempts_before(std::vector<SeriesRecovery> const& compared,
                            Series const& series,
                            NightlyId nightly) {
  return static_cast<std::size_t>(std::ranges::count_if(compared, [&](SeriesRecovery const& one) {
    return one.series == series && one.nightly != nightly;
  }));
}

}  // namespace

asio::awaitable<Result<>> Recoveries::compare(Nightly const& nightly) {
  auto tasks = tasks_of(nightly);
  if (tasks.empty()) co_return Result<>{};
  auto const measured = co_await measure_all(tasks);
  if (!measured) co_return measured.error();
  record(tasks, nightly);
  co_return Result<>{};
}

std::vector<Recoveries::Task> Recoveries::tasks_of(Nightly const& nightly) {
  auto incidents = store_.incidents().changing();
  std::erase_if(incidents, [](Incident const& one) { return !is_unfinished(one.state); });
  std::vector<Task> tasks;
  if (incidents.empty()) return tasks;
  auto const pairs = pairs_tonight(nightly);
  for (auto const& incident : incidents) {
    auto const series = candidates(incident, nightly, pairs);
    if (series.empty()) continue;
    auto of_incident = tasks_of(incident, series, nightly);
    std::ranges::move(of_incident, std::back_inserter(tasks));
  }
  return tasks;
}

/// Returns the sweep's pairs; none for a nightly without a baseline.
measure::SeriesPairs Recoveries::pairs_tonight(Nightly const& nightly) {
  if (!nightly.baseline) return {};
  ComparedNight const night{nightly, store_.nightlies().find(*nightly.baseline).value()};
  return pairs_of(store_, night, options_.decide.sweep_pairs);
}

std::vector<Recoveries::Task> Recoveries::tasks_of(Incident const& incident,
                                                   std::vector<Series> const& series,
                                                   Nightly const& nightly) {
  auto const builds = builds_of(incident, series, nightly);
  if (!builds) {
    log_not_compared(incident.id, nightly, builds.error());
    return {};
  }
  auto const compared = store_.incidents().compared_recoveries(incident.id);
  std::vector<Task> tasks;
  for (auto& group : measure::by_benchmark(series)) {
    std::size_t attempts = 0;
    for (auto const& one : group)
      attempts = std::max(attempts, attempts_before(compared, one, nightly.id));
    tasks.push_back(
        {incident.id, *builds, std::move(group), for_attempt(options_.decide, attempts)});
  }
  return tasks;
}

/// Returns the series that are not back yet, were measured tonight and may be back. Those that were
/// compared tonight already are left out.
std::vector<Series> Recoveries::candidates(Incident const& incident,
                                           Nightly const& nightly,
                                           measure::SeriesPairs const& pairs) {
  auto const back = store_.incidents().recoveries(incident.id);
  auto compared = store_.incidents().compared_recoveries(incident.id);
  std::erase_if(compared, [&](SeriesRecovery const& one) { return one.nightly != nightly.id; });
  std::vector<Series> may_be_back;
  for (auto const& change : incident.changes) {
    auto const& series = change.series;
    if (has_series(back, series) || has_series(compared, series)) continue;
    auto const last = store_.nightlies().find(last_regression(incident, series)).value();
    if (bisect::is_before(last, nightly) && may_be_back_in(change, nightly, pairs))
      may_be_back.push_back(series);
  }
  std::ranges::sort(may_be_back);
  return may_be_back;
}

bool Recoveries::may_be_back_in(SeriesChange const& change,
                                Nightly const& nightly,
                                measure::SeriesPairs const& pairs) {
  auto const& [series, comparison, muted] = change;
  auto const nights = store_.histories().newest(series, 1);
  if (nights.empty() || nights.back().nightly != nightly.id) return false;
  RecoveryScreen screen{series.metric, comparison.before, comparison.after, nights.back().level};
  if (auto const found = pairs.find(series); found != pairs.end()) screen.pairs = found->second;
  return may_be_back(screen, options_.decide);
}

/// Returns the nightly's build and the last good ones. Fails as builds::read_build_of does.
Result<measure::BuildPair> Recoveries::builds_of(Incident const& incident,
                                                 std::vector<Series> const& series,
                                                 Nightly const& nightly) {
  auto const after = builds::read_build_of(nightly);
  if (!after) return after.error();
  auto const usual = baseline_of(incident, series.front());
  measure::BuildPair pair{Campaign::recovery(incident.id, nightly.id), {}, *after, {}};
  for (auto const& one : series) {
    auto const good = baseline_of(incident, one);
    auto const build = builds::read_build_of(store_.nightlies().find(good).value());
    if (!build) return build.error();
    if (good == usual)
      pair.before = *build;
    else
      pair.own[one] = *build;
  }
  return pair;
}

/// Makes all comparisons, side by side.
asio::awaitable<Result<>> Recoveries::measure_all(std::vector<Task>& tasks) {
  measure::Past const nothing_known;
  std::vector<asio::awaitable<Result<measure::ComparisonResult>>> comparisons;
  for (auto& task : tasks)
    comparisons.push_back(
        measure::compare_builds(rounds_, task.builds, task.group, nothing_known, task.decide));
  auto results = co_await async::when_all(std::move(comparisons));
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i]) co_return results[i].error();
    tasks[i].result = std::move(*results[i]);
  }
  co_return Result<>{};
}

/// Stores the comparisons, those of one incident together. If a build was overwritten meanwhile, it
/// is unknown which build was measured, and nothing is stored of that incident.
void Recoveries::record(std::vector<Task> const& tasks, Nightly const& nightly) {
  std::map<IncidentId, std::vector<SeriesRecovery>> by_incident;
  for (auto const& task : tasks)
    for (auto const& change : task.result.changes)
      by_incident[task.incident].push_back({change.series, nightly.id, change.comparison});
  for (auto const& [id, compared] : by_incident) {
    std::vector<Series> series;
    for (auto const& one : compared)
      series.push_back(one.series);
    auto const builds = builds_of(store_.incidents().find(id).value(), series, nightly);
    if (builds)
      store_.incidents().record_recoveries(id, compared);
    else
      log_not_compared(id, nightly, builds.error());
  }
}

}  // namespace torchwatch::nightly
