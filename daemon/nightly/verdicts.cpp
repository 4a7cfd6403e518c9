#include "daemon/nightly/verdicts.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "bisect/compare/baseline.h"
#include "bisect/compare/compare.h"
#include "daemon/async/when_all.h"
#include "daemon/builds/manifest.h"
#include "daemon/nightly/belonging.h"
#include "daemon/nightly/sweep.h"

namespace torchwatch::nightly {
namespace asio = boost::asio;

using measure::SeriesGroup;

namespace {

/// The nightlies that determine the noise of a series; two or three weeks.
constexpr int nights_of_noise = 20;

/// The pairs of each that count towards the noise: the sweep's, and a few of the comparison.
constexpr int rounds_of_noise = 8;

}  // namespace

/// Screens with the data of the sweep only: rounds of comparisons come later. Logs the result.
Screening Verdicts::screen(Nightly const& nightly, Nightly const& baseline) {
  ComparedNight const night{nightly, baseline};
  auto const tonight = pairs_of(store_, night, options_.decide.sweep_pairs);
  std::vector<measure::SeriesPairs> past;
  for (auto const& earlier : store_.nightlies().compared_before(nightly, nights_of_noise))
    past.push_back(pairs_of(store_, earlier, rounds_of_noise));
  auto screening = screen_sweep(tonight, past, options_.fleets, options_.decide);
  spdlog::info("screened date={} baseline={} series={} suspicious_benchmarks={}",
               nightly.date,
               baseline.date,
               count_series(screening.all),
               screening.suspicious.size());
  return screening;
}

void Verdicts::check_sweep(Nightly const& nightly, Nightly const& baseline) {
  alarms_.check_sweep(nightly, baseline);
}

void Verdicts::cannot_compare(Nightly const& nightly) {
  alarms_.look_for_baseline(nightly);
}

asio::awaitable<Result<bool>> Verdicts::confirm(Nightly const& nightly, Nightly const& baseline) {
  auto const before = builds::read_build_of(baseline);
  if (!before) co_return before.error();
  auto const after = builds::read_build_of(nightly);
  if (!after) co_return after.error();
  auto const older = builds_of_series(store_, nightly);
  if (!older) co_return older.error();
  auto const screening = screen(nightly, baseline);
  // The campaign of the sweep: its pairs are the first of each comparison.
  measure::BuildPair const builds{Campaign::of(nightly.id), *before, *after, *older};
  auto plan = this->plan(nightly, builds, screening);
  auto const options = bisect::for_family(options_.decide, count_series(screening.all));
  auto const decided = co_await decide(plan, screening.past, options);
  if (!decided) co_return decided.error();
  // If the build was overwritten meanwhile, it is unknown which build was measured.
  for (auto const& measured : {baseline, nightly})
    if (auto const still = builds::read_build_of(measured); !still) co_return still.error();
  if (auto const still = builds_of_series(store_, nightly); !still) co_return still.error();
  settle_mutes(plan.tonight);
  settle_mutes(plan.anchored);
  record_self(nightly, plan.self);
  record_anchored(nightly, plan.anchored);
  bool const any = record(nightly, plan.tonight);
  settle_incidents({nightly, baseline}, any);
  clear_quiet_ones(nightly, screening);
  alarms_.check_anchors(nightly);
  co_return store_.incidents().of_nightly(nightly.id).has_value();
}

Verdicts::Plan Verdicts::plan(Nightly const& nightly,
                              measure::BuildPair const& builds,
                              Screening const& screening) {
  Plan plan;
  auto const& after = builds.after;
  for (auto const& group : screening.suspicious)
    plan.tonight.push_back({builds, group, {}});
  for (auto const& group : sample_of(screening.all, nightly.id, options_.decide.aa_benchmarks))
    plan.self.push_back({{Campaign::self_comparison(nightly.id), after, after, {}}, group, {}});
  plan.anchored = anchored_tasks(nightly, after, screening.all);
  return plan;
}

/// Returns the comparisons with anchors. Every benchmark has one in `anchor_nights` nightlies that
/// are compared, on any days of the week.
std::vector<Verdicts::Task> Verdicts::anchored_tasks(Nightly const& nightly,
                                                     Build const& build,
                                                     std::vector<SeriesGroup> const& all) {
  std::vector<Task> tasks;
  if (options_.decide.anchor_nights == 0) return tasks;
  auto place = store_.nightlies().count_compared_before(nightly);
  for (auto const& group : all) {
    if (place++ % static_cast<std::size_t>(options_.decide.anchor_nights) != 0) continue;
    if (auto anchor = anchor_of(nightly, group))
      tasks.push_back({{Campaign::anchor(nightly.id), std::move(*anchor), build, {}}, group, {}});
  }
  return tasks;
}

/// Returns the oldest candidate whose build still exists; nothing when that is the baseline, with
/// which the nightly is compared anyway. It is chosen once, independent of later rulings.
std::optional<Build> Verdicts::anchor_of(Nightly const& nightly, SeriesGroup const& group) {
  auto anchors = store_.anchors();
  FleetBenchmark const which{group.front().fleet, group.front().benchmark};
  auto const nightlies = store_.nightlies();
  bisect::BenchmarkHistory const history{which,
                                         store_.incidents().verdicts_of(which),
                                         anchors.verdicts_of(which),
                                         store_.rulings().all(),
                                         store_.histories().nightlies_with(which)};
  auto const chosen = anchors.chosen(which, nightly.id);
  auto const candidates = chosen ? std::vector{nightlies.find(*chosen).value()}
                                 : bisect::anchor_candidates(nightly, nightlies.all(), history);
  for (auto const& candidate : candidates) {
    if (candidate.id == nightly.baseline) break;
    auto build = builds::read_build_of(candidate);
    if (!build || candidate.commit == nightly.commit) continue;
    anchors.choose(which, nightly.id, candidate.id);
    return std::move(*build);
  }
  return std::nullopt;
}

/// Makes all comparisons, side by side.
asio::awaitable<Result<>> Verdicts::decide(Plan& plan,
                                           measure::Past const& past,
                                           config::DecideOptions const& options) {
  std::vector<Task*> tasks;
  std::vector<asio::awaitable<Result<measure::ComparisonResult>>> comparisons;
  for (auto* const some : {&plan.tonight, &plan.self, &plan.anchored}) {
    for (auto& task : *some) {
      tasks.push_back(&task);
      comparisons.push_back(
          measure::compare_builds(rounds_, task.builds, task.group, past, options));
    }
  }
  auto results = co_await async::when_all(std::move(comparisons));
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i]) co_return results[i].error();
    tasks[i]->result = std::move(*results[i]);
  }
  co_return Result<>{};
}

void Verdicts::settle_mutes(std::span<Task> tasks) const {
  for (auto& task : tasks)
    for (auto& change : task.result.changes)
      change.muted = store_.rulings().is_muted(change.series, clock_.now());
}

/// Stores the verdicts. True when there is a regression to report. Verdicts that were stored before
/// stay, muted or not.
bool Verdicts::record(Nightly const& nightly, std::span<Task const> tasks) {
  for (auto const& task : tasks) {
    for (auto const& change : task.result.changes)
      store_.incidents().record(nightly.id, change);
    alarms_.check_comparison(nightly, task.group.front(), task.result.failure);
  }
  return std::ranges::any_of(
      store_.incidents().verdicts(nightly.id), [](SeriesChange const& change) {
        return change.comparison.verdict == Verdict::regression && !change.muted;
      });
}

/// Clears the alarms of series that needed no comparison: they could have been compared.
void Verdicts::clear_quiet_ones(Nightly const& nightly, Screening const& screening) {
  std::set<FleetBenchmark> compared;
  for (auto const& group : screening.suspicious)
    compared.insert({group.front().fleet, group.front().benchmark});
  for (auto const& group : screening.all)
    if (!compared.contains({group.front().fleet, group.front().benchmark}))
      alarms_.check_comparison(nightly, group.front(), "");
}

void Verdicts::record_self(Nightly const& nightly, std::span<Task const> tasks) {
  for (auto const& task : tasks) {
    for (auto const& change : task.result.changes) {
      store_.incidents().record_aa(nightly.id, change);
      auto const verdict = change.comparison.verdict;
      if (verdict == Verdict::regression || verdict == Verdict::improvement)
        spdlog::warn("false_alarm date={} series={} verdict={}",
                     nightly.date,
                     name_of(change.series),
                     to_string(verdict));
    }
  }
}

void Verdicts::record_anchored(Nightly const& nightly, std::span<Task const> tasks) {
  for (auto const& task : tasks) {
    for (auto const& change : task.result.changes)
      store_.anchors().record(nightly.id, change);
    if (task.result.failure.empty()) continue;
    auto const& one = task.group.front();
    spdlog::warn("anchor_not_compared date={} fleet={} benchmark={} reason=\"{}\"",
                 nightly.date,
                 one.fleet,
                 name_of(one.benchmark),
                 task.result.failure);
  }
}

/// Returns the incident of an earlier edition of the same nightly.
std::optional<Incident> Verdicts::incident_of_edition(Nightly const& nightly) {
  for (auto const& other : store_.nightlies().since(nightly.date)) {
    bool const is_edition = nightly.file && other.file && other.id < nightly.id &&
                            other.date == nightly.date && other.version == nightly.version;
    if (!is_edition) continue;
    if (auto incident = store_.incidents().of_nightly(other.id)) return incident;
  }
  return std::nullopt;
}

/// Adds a note about the edition to the incident. One date has one incident, whose first findings
/// stay.
void Verdicts::correct(Incident const& incident, Nightly const& edition, bool has_regressions) {
  constexpr std::size_t digits = 12;
  auto const text = fmt::format(
      "Nightly {} was published again with other contents (commit {}, SHA-256 {}...). They "
      "were measured: {}.",
      edition.date,
      short_of(edition.commit),
      edition.file->sha256.substr(0, digits),
      has_regressions ? "there are regressions in them, too" : "no regression was found in them");
  auto const joined = has_regressions ? std::optional{edition.id} : std::nullopt;
  store_.incidents().correct(incident.id, joined, text);
  spdlog::warn("incident_corrected id={} date={} has_regressions={}",
               incident.id.value,
               edition.date,
               has_regressions);
}

/// Adds the regressions to an incident, if there are any.
void Verdicts::settle_incidents(ComparedNight const& night, bool has_regressions) {
  auto const& [nightly, baseline] = night;
  if (auto const edited = incident_of_edition(nightly)) {
    correct(*edited, nightly, has_regressions);
    return;
  }
  bool const is_news =
      has_regressions && !bisect::is_late(nightly, store_.nightlies().since(nightly.date));
  if (is_news && add_to_earlier_incidents(store_, options_, night))
    open_incident(nightly, baseline);
}

/// Returns the oldest baseline of the regressions that belong to no earlier incident: the changes
/// are between it and `nightly`.
Nightly Verdicts::start_of_incident(Nightly const& nightly, Nightly const& baseline) {
  auto const older = store_.baselines().of(nightly.id);
  auto const added = store_.incidents().added_series(nightly.id);
  std::optional<Nightly> start;
  for (auto const& [series, comparison, muted] : store_.incidents().verdicts(nightly.id)) {
    if (comparison.verdict != Verdict::regression || muted || added.contains(series)) continue;
    auto const own = older.find(series);
    auto const one = own == older.end() ? baseline : store_.nightlies().find(own->second).value();
    if (!start || bisect::is_before(one, *start)) start = one;
  }
  return start.value_or(baseline);
}

void Verdicts::open_incident(Nightly const& nightly, Nightly const& baseline) {
  auto const start = start_of_incident(nightly, baseline);
  auto const incident = store_.incidents().open(start.id, nightly.id, clock_.now());
  spdlog::warn("incident_opened id={} date={} series={}",
               incident.id.value,
               nightly.date,
               incident.changes.size());
}

}  // namespace torchwatch::nightly
