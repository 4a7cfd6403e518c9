#include "daemon/nightly/alarms.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bisect/compare/baseline.h"
#include "bisect/compare/environment.h"
#include "daemon/feed/staleness.h"
#include "daemon/measure/alarm.h"
#include "daemon/measure/job.h"
#include "storage/base/date.h"

namespace torchwatch::nightly {
namespace {

/// Longer than a weekend without a usable build, which is normal.
constexpr std::chrono::days oldest_baseline{3};

/// The nightlies that show how much a fleet varies by itself.
constexpr int nights_of_environment = 20;

/// The values of each series of one commit in the sweep of one nightly.
using Values = std::map<Series, std::vector<double>>;

Values values_of(std::vector<JobOutcome> const& jobs, CommitSha const& commit, int rounds) {
  Values values;
  for (auto const& job : jobs) {
    if (job.key.commit != commit || job.key.round >= rounds) continue;
    for (auto const& [metric, value] : job.values)
      values[{job.key.fleet, job.key.benchmark, metric}].push_back(value.value);
  }
  return values;
}

/// The values of a baseline in its own sweep and in a later one, by fleet.
using RemeasuredFleets = std::map<std::string, bisect::RemeasuredNight>;

RemeasuredFleets remeasured(Values const& then, Values const& now) {
  RemeasuredFleets fleets;
  for (auto const& [series, values] : now)
    if (auto const known = then.find(series); known != then.end())
      fleets[series.fleet].push_back({series.metric, known->second, values});
  return fleets;
}

/// Returns "latency in 4 of 4 series, +30.1% (5 earlier nightlies: up to 1.2%)". Returns "leak in
/// 4 of 4 series" where there was none before.
std::string text_of(bisect::EnvironmentShift const& shift) {
  auto where =
      fmt::format("{} in {} of {} series", to_string(shift.metric), shift.shifted, shift.series);
  if (shift.ratio == 1) return where;
  auto const usual = shift.nights == 0
                         ? std::string{"no earlier nightly to compare with"}
                         : fmt::format("{} earlier nightl{}: {} {:.1f}%",
                                       shift.nights,
                                       shift.nights == 1 ? "y" : "ies",
                                       shift.nights < 10 ? "up to" : "nine in ten up to",
                                       100 * (shift.usual - 1));
  return fmt::format("{}, {:+.1f}% ({})", where, 100 * (shift.ratio - 1), usual);
}

/// The results of the processes of one benchmark on two builds.
struct Runs {
  bool on_nightly = false;
  bool on_baseline = false;
  std::set<Metric> of_nightly;
  std::set<Metric> of_baseline;
  bool is_lost = false;  ///< its runners vanished, several times, on the nightly
  std::string error;     ///< on the nightly
};

void note(Runs& runs, JobOutcome const& job, bool is_nightly) {
  auto& ran = is_nightly ? runs.on_nightly : runs.on_baseline;
  auto& metrics = is_nightly ? runs.of_nightly : runs.of_baseline;
  ran = ran || job.ok();
  for (auto const& [metric, value] : job.values)
    metrics.insert(metric);
  if (!is_nightly || job.ok()) return;
  runs.error = measure::failure_of(job);
  runs.is_lost = job.error_code == JobError::lost;
}

/// Returns the metrics that only the baseline has: "cmem, leak".
std::string gone(Runs const& runs) {
  std::string names;
  for (auto const metric : runs.of_baseline)
    if (!runs.of_nightly.contains(metric))
      names += fmt::format("{}{}", names.empty() ? "" : ", ", to_string(metric));
  return names;
}

/// Returns the fingerprint of a fleet's first job; an empty object when there is none.
nlohmann::json fingerprint_of(std::vector<JobOutcome> const& jobs,
                              std::string const& fleet,
                              CommitSha const& commit) {
  for (auto const& job : jobs)
    if (job.ok() && job.key.fleet == fleet && job.key.commit == commit)
      return nlohmann::json::parse(job.fingerprint, nullptr, false);
  return nlohmann::json::object();
}

/// Returns each key whose value changed: "kernel: \"6.1\" to \"6.8\"".
std::string difference(nlohmann::json const& then, nlohmann::json const& now) {
  std::string text;
  if (!then.is_object() || !now.is_object()) return text;
  for (auto const& [key, value] : now.items()) {
    auto const before = then.find(key);
    if (before == then.end() || *before == value) continue;
    text += "; " + key + ": " + before->dump() + " to " + value.dump();
  }
  return text;
}

std::string first_of(std::vector<std::string> const& texts) {
  if (texts.empty()) return {};
  auto const others = texts.size() - 1;
  return texts.front() + (others == 0 ? "" : fmt::format("; {} more", others));
}

}  // namespace

void Alarms::set(bool is_wrong,
                 AlarmKind kind,
                 std::string const& subject,
                 std::string const& detail) {
  Alarm alarm;
  alarm.kind = kind;
  alarm.subject = subject;
  alarm.detail = detail;
  alarm.raised_at = clock_.now();
  measure::set_alarm(store_, is_wrong, alarm);
}

bool Alarms::is_late(Nightly const& nightly) const {
  return bisect::is_late(nightly, store_.nightlies().since(nightly.date));
}

void Alarms::check_feed(std::optional<std::vector<std::string>> const& odd,
                        std::string const& newer) {
  if (odd) set(!odd->empty(), AlarmKind::odd_feed_entry, "", first_of(*odd));
  auto const newest = store_.nightlies().newest();
  if (!newest) return;
  auto const stale = feed::why_stale(options_.feed, newest->date, newer, clock_.now());
  set(!stale.empty(), AlarmKind::stale_feed, "", stale);
  if (options_.feed.overdue == std::chrono::seconds{0}) return;
  set(clock_.now() - newest->announced_at > options_.feed.overdue,
      AlarmKind::missing_nightly,
      "",
      "no nightly since " + newest->date + feed::text_about_newer(options_.feed, newer));
}

void Alarms::check_end(Nightly const& nightly) {
  set(nightly.state == NightlyState::failed,
      AlarmKind::nightly_failed,
      "",
      "nightly " + nightly.date + ": " + nightly.failure);
  check_clone(nightly);
  check_date(nightly);
  check_bisection(nightly);
  check_wait(nightly);
}

void Alarms::check_wait(Nightly const& nightly) {
  auto const missing = missing_commits(nightly);
  auto const reason = missing ? missing->reason : std::string{};
  set(missing.has_value(),
      AlarmKind::bisection_failed,
      "nightly " + nightly.date,
      reason +
          "; the fetch is retried for a day, and `torchwatch config check` shows what the "
          "clone lacks");
}

/// Returns the record of the commits that the nightly's bisection waits for.
std::optional<Retry> Alarms::missing_commits(Nightly const& nightly) const {
  auto const incident = store_.incidents().of_nightly(nightly.id);
  if (!incident || nightly.state != NightlyState::confirmed) return std::nullopt;
  for (auto const& bisection : store_.bisections().of_incident_in_brief(incident->id)) {
    auto missing = store_.retries().find(retry_subject(bisection.id));
    if (missing && is_active(bisection.state)) return missing;
  }
  return std::nullopt;
}

/// Alarms when the release commit replaces a trunk commit that the clone does not name.
void Alarms::check_clone(Nightly const& nightly) {
  if (!nightly.file || nightly.commit.hex.empty()) return;
  bool const has_clone = !options_.source.repository.empty();
  set(has_clone && nightly.commit == nightly.release_commit,
      AlarmKind::clone_unfit,
      "",
      fmt::format("branch {} of source.repository does not name the commit that nightly {} was "
                  "built from, so a regression in it cannot be bisected; `torchwatch config check` "
                  "shows why",
                  options_.feed.branch,
                  nightly.date));
}

/// Alarms when a file was built from another date's release: its job started after midnight.
void Alarms::check_date(Nightly const& nightly) {
  if (!nightly.file || nightly.commit.hex.empty()) return;
  set(!nightly.release_date.empty() && nightly.release_date != nightly.date,
      AlarmKind::nightly_of_another_date,
      "",
      fmt::format("the file of nightly {} was built from the release of {}: the nightly is "
                  "measured and bisected as commit {}; other files of its date may be of another "
                  "commit",
                  nightly.date,
                  nightly.release_date,
                  short_of(nightly.commit)));
}

/// Alarms when the incident's first bisection, the pipeline's own, failed and no other one is done.
void Alarms::check_bisection(Nightly const& nightly) {
  auto const incident = store_.incidents().of_nightly(nightly.id);
  if (!incident) return;
  auto const bisections = store_.bisections().of_incident_in_brief(incident->id);
  if (bisections.empty()) return;
  bool const is_done =
      std::ranges::find(bisections, BisectionState::done, &Bisection::state) != bisections.end();
  set(!is_done && bisections.front().state == BisectionState::failed,
      AlarmKind::bisection_failed,
      "",
      "nightly " + nightly.date + ": " + bisections.front().failure);
}

void Alarms::check_sweep(Nightly const& nightly, Nightly const& baseline) {
  if (is_late(nightly)) return;
  auto const tonight = store_.jobs().of(Campaign::of(nightly.id));
  look_for_stopped_benchmarks(nightly, tonight);
  check_age(nightly, baseline);
  check_environment(nightly, baseline, tonight);
}

void Alarms::look_for_stopped_benchmarks(Nightly const& nightly,
                                         std::vector<JobOutcome> const& tonight) {
  std::map<std::pair<std::string, Benchmark>, Runs> benchmarks;
  for (auto const& job : tonight)
    note(benchmarks[{job.key.fleet, job.key.benchmark}], job, job.key.commit == nightly.commit);
  for (auto const& [where, runs] : benchmarks) {
    auto const& [fleet, benchmark] = where;
    // A benchmark that runs on neither build stopped on an earlier nightly. But a crash of the
    // runner also ends the baseline's worker.
    if (!runs.on_nightly && !runs.on_baseline && !runs.is_lost) continue;
    auto const lacking = gone(runs);
    if (runs.on_nightly && lacking.empty() && still_lacks(fleet, benchmark, runs.of_nightly))
      continue;
    set(!lacking.empty() || (runs.is_lost && !runs.on_nightly),
        AlarmKind::benchmark_stopped,
        fleet + ": " + name_of(benchmark),
        runs.on_nightly ? "gave no " + lacking + " on nightly " + nightly.date
                        : "gave no result on nightly " + nightly.date + ": " + runs.error);
  }
  clear_what_is_not_configured();
}

/// True when the alarm about the missing metrics of a benchmark is open and still correct: the
/// nightly before had no more metrics.
bool Alarms::still_lacks(std::string const& fleet,
                         Benchmark const& benchmark,
                         std::set<Metric> const& given) const {
  auto const alarms = store_.alarms().open();
  bool const was_said = std::ranges::any_of(alarms, [&](Alarm const& alarm) {
    return alarm.kind == AlarmKind::benchmark_stopped &&
           alarm.subject == fleet + ": " + name_of(benchmark);
  });
  return was_said && std::ranges::any_of(store_.histories().series(), [&](Series const& series) {
           return series.fleet == fleet && series.benchmark == benchmark &&
                  !given.contains(series.metric);
         });
}

/// Clears alarms about benchmarks and fleets that are no longer configured.
void Alarms::clear_what_is_not_configured() {
  std::set<std::string> configured;
  for (auto const& fleet : options_.fleets)
    for (auto const& benchmark : measure::benchmarks_of(options_, fleet))
      configured.insert(fleet.name + ": " + name_of(benchmark));
  for (auto const& alarm : store_.alarms().open()) {
    bool const is_of_benchmark =
        alarm.kind == AlarmKind::benchmark_stopped || alarm.kind == AlarmKind::benchmark_undecided;
    if (is_of_benchmark && !configured.contains(alarm.subject))
      set(false, alarm.kind, alarm.subject, "");
  }
}

void Alarms::check_age(Nightly const& nightly, Nightly const& baseline) {
  auto const now = day_of(nightly.date);
  auto const then = day_of(baseline.date);
  if (!now || !then) return;
  set(*now - *then > oldest_baseline,
      AlarmKind::stale_baseline,
      "",
      "nightly " + nightly.date + " is compared with " + baseline.date);
}

void Alarms::look_for_baseline(Nightly const& nightly) {
  if (is_late(nightly)) return;
  auto const is_earlier = [&](Nightly const& one) {
    return bisect::can_be_baseline(one, nightly);
  };
  if (!store_.nightlies().last_before(nightly, is_earlier)) return;  // it is the first
  set(true,
      AlarmKind::stale_baseline,
      "",
      "nightly " + nightly.date + " has no baseline: no build of an earlier nightly exists");
}

void Alarms::check_environment(Nightly const& nightly,
                               Nightly const& baseline,
                               std::vector<JobOutcome> const& tonight) {
  auto const its_own_night = store_.jobs().of(Campaign::of(baseline.id));
  int const rounds = options_.decide.sweep_pairs;
  auto earlier = earlier_nights(nightly);
  auto const fleets = remeasured(values_of(its_own_night, baseline.commit, rounds),
                                 values_of(tonight, baseline.commit, rounds));
  for (auto const& [fleet, series] : fleets) {
    std::string detail;
    for (auto const& shift : bisect::environment_shifts(series, earlier[fleet], options_.decide))
      detail += (detail.empty() ? "" : ", ") + text_of(shift);
    bool const is_wrong = !detail.empty();
    detail = "nightly " + baseline.date + " measures differently than in its own sweep: " + detail +
             difference(fingerprint_of(its_own_night, fleet, baseline.commit),
                        fingerprint_of(tonight, fleet, baseline.commit));
    set(is_wrong, AlarmKind::environment, fleet, detail);
  }
}

std::map<std::string, std::vector<bisect::RemeasuredNight>> Alarms::earlier_nights(
    Nightly const& nightly) {
  int const rounds = options_.decide.sweep_pairs;
  // A baseline is usually the night before, so each sweep is needed twice.
  std::map<NightlyId, std::vector<JobOutcome>> sweeps;
  auto const values = [&](Nightly const& night, CommitSha const& commit) {
    auto const [sweep, is_new] = sweeps.try_emplace(night.id);
    if (is_new) sweep->second = store_.jobs().values_of(Campaign::of(night.id), rounds);
    return values_of(sweep->second, commit, rounds);
  };
  std::map<std::string, std::vector<bisect::RemeasuredNight>> fleets;
  for (auto const& [night, baseline] :
       store_.nightlies().compared_before(nightly, nights_of_environment))
    for (auto& [fleet, series] :
         remeasured(values(baseline, baseline.commit), values(night, baseline.commit)))
      fleets[fleet].push_back(std::move(series));
  return fleets;
}

void Alarms::check_comparison(Nightly const& nightly,
                              Series const& series,
                              std::string const& failure) {
  if (is_late(nightly)) return;
  set(!failure.empty(),
      AlarmKind::benchmark_undecided,
      series.fleet + ": " + name_of(series.benchmark),
      "could not be compared on nightly " + nightly.date + ": " + failure);
}

/// True when the anchor may hide a drift of the series before it. A benchmark's anchor moves when
/// any of its metrics changes its level, or that level is accepted. Then the new anchor shows
/// nothing about an earlier drift of another metric. A regression since then belongs to an
/// incident, and an improvement may have undone the drift.
bool Alarms::hides_drift(Nightly const& anchor,
                         Nightly const& nightly,
                         Series const& series) const {
  FleetBenchmark const which{series.fleet, series.benchmark};
  std::optional<Nightly> drifted;
  for (auto const& [night, change] : store_.anchors().verdicts_of(which))
    if (night != nightly.id && change.series == series &&
        change.comparison.verdict == Verdict::regression)
      drifted = store_.nightlies().find(night);
  if (!drifted || bisect::is_before(anchor, *drifted)) return false;
  auto const verdicts = store_.incidents().verdicts_of(which);
  return std::ranges::none_of(verdicts, [&](NightlyVerdict const& one) {
    auto const verdict = one.change.comparison.verdict;
    bool const is_another_level = verdict == Verdict::regression || verdict == Verdict::improvement;
    return is_another_level && one.change.series == series &&
           !bisect::is_before(store_.nightlies().find(one.nightly).value(), *drifted);
  });
}

/// Describes the nightlies in between. Each that judged the series was compared with the previous
/// one that did, and found no change.
std::string Alarms::known_between(Nightly const& anchor,
                                  Nightly const& nightly,
                                  Series const& series) {
  std::set<NightlyId> judged;
  for (auto const& night : store_.histories().of(series))
    if (night.is_judged) judged.insert(night.nightly);
  int all = 0;
  std::vector<std::string> others;
  for (auto const& one : store_.nightlies().since(anchor.date)) {
    if (!bisect::is_before(anchor, one) || !bisect::is_before(one, nightly)) continue;
    ++all;
    if (one.state == NightlyState::failed || !judged.contains(one.id)) others.push_back(one.date);
  }
  if (others.empty()) return ", although no nightly in between changed as much";
  return fmt::format("; {} of the {} nightlies in between did not judge the series ({}{})",
                     others.size(),
                     all,
                     others.front(),
                     others.size() == 1 ? "" : ", ...");
}

void Alarms::check_anchors(Nightly const& nightly) {
  if (is_late(nightly)) return;
  std::set<Series> grown_tonight;
  for (auto const& change : store_.incidents().verdicts(nightly.id))
    if (change.comparison.verdict == Verdict::regression) grown_tonight.insert(change.series);
  for (auto const& change : store_.anchors().verdicts(nightly.id)) {
    auto const& [verdict, before, after, ratio, error_bound, pairs] = change.comparison;
    if (verdict == Verdict::inconclusive || grown_tonight.contains(change.series)) continue;
    auto const anchor_id =
        store_.anchors().chosen({change.series.fleet, change.series.benchmark}, nightly.id);
    auto const anchor = store_.nightlies().find(anchor_id.value()).value();
    bool const is_quiet = verdict == Verdict::unchanged && !change.muted;
    if (is_quiet && hides_drift(anchor, nightly, change.series)) continue;
    auto const grown =
        ratio ? fmt::format("{:+.1f}% [{:+.1f}%, {:+.1f}%]",
                            100 * (ratio->ratio - 1),
                            100 * (ratio->low - 1),
                            100 * (ratio->high - 1))
              : fmt::format("from {:g} to {:g} {}", before, after, unit_of(change.series.metric));
    set(verdict == Verdict::regression && !change.muted,
        AlarmKind::drift,
        drift_subject(change.series),
        fmt::format("{} from nightly {} ({}) to {} ({}){}",
                    grown,
                    anchor.date,
                    short_of(anchor.commit),
                    nightly.date,
                    short_of(nightly.commit),
                    known_between(anchor, nightly, change.series)));
  }
}

}  // namespace torchwatch::nightly
