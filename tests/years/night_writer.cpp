#include "tests/years/night_writer.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "tests/years/alarms.h"

namespace torchwatch::years {
namespace {

using namespace std::chrono_literals;

/// config::DecideOptions and MeasureOptions, and what the configuration says of anchors.
constexpr int sweep_pairs = 2;
constexpr std::size_t anchor_nights = 30;
constexpr std::size_t profile_nights = 7;

/// Builds of older nightlies have been removed.
constexpr std::size_t nights_of_builds = 90;

/// Nights before the newest in which a build compared with itself was called slower.
constexpr std::size_t false_alarm_ago = 37;

bool has_incident(Plan const& plan, std::size_t night) {
  return std::ranges::find(plan.incidents, night, &PlannedIncident::night) != plan.incidents.end();
}

}  // namespace

NightlyId id_of(std::size_t night) {
  return {static_cast<std::int64_t>(night) + 1};
}

Runner build_of(History const& history, Campaign campaign, std::size_t night) {
  return {std::move(campaign),
          history.trunk.head(night),
          history.trunk.version(night),
          [night](TrueSeries const& one) {
            return level_of(one, night);
          }};
}

NightWriter::NightWriter(History const& history,
                         storage::Store& store,
                         std::filesystem::path const& state_dir,
                         std::size_t night)
    : history_{history},
      store_{store},
      night_{night},
      planned_{history.nights[night]},
      campaign_{Campaign::of(id_of(night))},
      processes_{history.plan.suite, history.hosts, night},
      chance_{history.request.seed, "night", night},
      is_raw_{history.are_raw[night] || has_incident(history.plan, night)} {
  announce(state_dir);
}

void NightWriter::announce(std::filesystem::path const& state_dir) {
  Nightly nightly;
  nightly.id = id_of(night_);
  nightly.date = planned_.date;
  nightly.version = history_.trunk.version(night_);
  nightly.commit = history_.trunk.head(night_);
  nightly.release_commit = history_.trunk.release(night_);
  nightly.prefix = state_dir / "builds" / fmt::format("nightly-{}", nightly.id.value);
  nightly.state = planned_.state;
  nightly.failure = history_.texts.of(planned_.failure, chance_);
  if (planned_.failure.empty()) nightly.failure.clear();
  nightly.announced_at = planned_.announced_at;
  store_.nightlies().announce(nightly);
  if (planned_.baseline) nightly.baseline = id_of(*planned_.baseline);
  store_.nightlies().update(nightly);
}

bool NightWriter::write() {
  look_at_night(history_, store_, night_);
  switch (planned_.state) {
    case NightlyState::prepared:
      sweep_half();
      store_.jobs().record(outcomes_);
      break;
    case NightlyState::failed:
      if (planned_.was_swept && is_raw_) sweep_broken();
      store_.jobs().record(outcomes_);
      break;
    default:
      judge();
  }
  return has_regression_;
}

/// One round of two fifths of the benchmarks is all there is yet.
void NightWriter::sweep_half() {
  for (std::size_t i = 0; i < history_.plan.suite.benchmarks.size() * 2 / 5; ++i)
    keep(sweep(i, true, 1));
}

void NightWriter::sweep_broken() {
  for (auto const& benchmark : history_.plan.suite.benchmarks) {
    auto broken = build_of(history_, campaign_, night_);
    broken.is_broken = true;
    keep(processes_.round(benchmark, {broken}, 0, occasion(), chance_));
  }
}

void NightWriter::judge() {
  auto const& benchmarks = history_.plan.suite.benchmarks;
  for (std::size_t i = 0; i < benchmarks.size(); ++i) {
    auto series = suspicious(benchmarks[i]);
    auto const has_both = !series.empty() || is_raw_;
    auto swept = sweep(i, has_both, sweep_pairs);
    bool const is_out =
        std::ranges::any_of(swept, [](JobOutcome const& outcome) { return !outcome.ok(); });
    if (series.empty() || is_out) {
      keep(std::move(swept));
      continue;
    }
    auto question = question_about(benchmarks[i], builds(i, true));
    question.series = std::move(series);
    compare(question, std::move(swept));
  }
  if (planned_.baseline) {
    compare_with_itself();
    compare_with_anchors();
  }
  store_outcomes();
  if (history_.are_raw[night_] && !has_regression_ && night_ % profile_nights == 0) profile_suite();
}

/// Where the time of the benchmarks on GPUs goes. It is much the same every time.
void NightWriter::profile_suite() {
  auto const& benchmarks = history_.plan.suite.benchmarks;
  Chance noise{history_.request.seed, "suite-profile", night_};
  auto const build = build_of(history_, Campaign::suite_profile(id_of(night_)), night_);
  for (std::size_t i = 0; i < benchmarks.size(); ++i) {
    if (benchmarks[i].which.benchmark.device != Device::cuda) continue;
    Chance own{history_.request.seed, "gpu-time", i};
    double const idle = own.between(0.08, 0.7) + 0.01 * noise.uniform();
    double const movement = own.between(0.005, 0.1);
    auto profiled = processes_.round(benchmarks[i], {build}, 0, occasion(), noise);
    profiled.front().accounts.insert({{"gpu_active_share", 1 - idle - movement},
                                      {"gpu_data_movement_share", movement},
                                      {"gpu_idle_share", idle}});
    store_.jobs().record(profiled);
  }
}

/// The nightly, after its baseline.
std::vector<Runner> NightWriter::builds(std::size_t benchmark, bool with_baseline) const {
  std::vector<Runner> builds;
  if (with_baseline && planned_.baseline)
    builds.push_back(build_of(history_, campaign_, *planned_.baseline));
  builds.push_back(build_of(history_, campaign_, night_));
  for (auto const& outage : history_.plan.outages) {
    builds.back().is_broken |= outage.holds(benchmark, night_);
    if (builds.size() > 1) builds.front().is_broken |= outage.holds(benchmark, *planned_.baseline);
  }
  return builds;
}

std::vector<JobOutcome> NightWriter::sweep(std::size_t benchmark, bool is_compared, int rounds) {
  std::vector<JobOutcome> outcomes;
  for (int round = 0; round < rounds; ++round)
    std::ranges::move(processes_.round(history_.plan.suite.benchmarks[benchmark],
                                       builds(benchmark, is_compared),
                                       round,
                                       occasion(),
                                       chance_),
                      std::back_inserter(outcomes));
  return outcomes;
}

/// What the screen lets through: what did move, and now and then noise.
std::vector<std::size_t> NightWriter::suspicious(Measured const& benchmark) {
  std::vector<std::size_t> series;
  if (!planned_.baseline) return series;
  for (auto const place : benchmark.series)
    if (may_have_moved(history_.plan.suite.series[place])) series.push_back(place);
  return series;
}

bool NightWriter::may_have_moved(TrueSeries const& one) {
  constexpr double suspicious_ratio = 0.06;
  constexpr double noisy = 0.02;
  double const before = level_of(one, *planned_.baseline);
  double const change = level_of(one, night_) - before;
  bool const seems_so =
      chance_.happens(one.noise > noisy ? 0.04 : 0.002) && one.series.metric == Metric::latency;
  return seems_so || std::abs(change) > suspicious_ratio * std::max(before, 1.0);
}

Question NightWriter::question_about(Measured const& benchmark, std::vector<Runner> pair) const {
  return {benchmark, benchmark.series, std::move(pair), occasion()};
}

void NightWriter::compare(Question const& question, std::vector<JobOutcome> swept) {
  auto answered = answer(processes_, question, chance_, std::move(swept));
  for (auto& change : answered.changes) {
    change.muted = is_muted(change.series);
    store_.incidents().record(id_of(night_), change);
    has_regression_ |= change.comparison.verdict == Verdict::regression && !change.muted;
  }
  keep(std::move(answered.outcomes));
}

/// One of a fleet's benchmarks, another one each night.
Measured const& NightWriter::sample_of(std::string const& fleet) const {
  std::vector<Measured const*> of_fleet;
  for (auto const& benchmark : history_.plan.suite.benchmarks)
    if (benchmark.which.fleet == fleet) of_fleet.push_back(&benchmark);
  return *of_fleet[night_ % of_fleet.size()];
}

/// The nightly and itself, which in one night is not what it was a moment ago.
std::vector<Runner> NightWriter::twice(std::string const& fleet) const {
  auto const campaign = Campaign::self_comparison(id_of(night_));
  auto again = build_of(history_, campaign.second(), night_);
  if (night_ + false_alarm_ago == history_.nights.size() && fleet == "gpu")
    again.level = [honest = again.level](TrueSeries const& one) {
      return honest(one) * (one.series.metric == Metric::latency ? 1.12 : 1);
    };
  return {build_of(history_, campaign, night_), std::move(again)};
}

void NightWriter::compare_with_itself() {
  for (auto const& fleet : history_.plan.suite.fleets) {
    auto answered = answer(processes_, question_about(sample_of(fleet), twice(fleet)), chance_);
    for (auto const& change : answered.changes)
      store_.incidents().record_aa(id_of(night_), change);
    if (is_raw_) keep(std::move(answered.outcomes));
  }
}

void NightWriter::compare_with_anchors() {
  auto const& benchmarks = history_.plan.suite.benchmarks;
  for (std::size_t i = 0; i < benchmarks.size(); ++i) {
    if ((night_ + i) % anchor_nights != 0) continue;
    if (auto const anchor = anchor_of(benchmarks[i])) compare_with_anchor(benchmarks[i], *anchor);
  }
}

/// The oldest judged nightly with a build that has the benchmark's level since its last regression;
/// nothing when that is the baseline.
std::optional<std::size_t> NightWriter::anchor_of(Measured const& benchmark) const {
  constexpr double threshold = 0.07;
  auto first = night_ - std::min(night_, nights_of_builds);
  for (auto const place : benchmark.series)
    for (auto const& shift : history_.plan.suite.series[place].shifts) {
      bool const counts = std::abs(shift.factor - 1) > threshold || shift.added > 0;
      if (counts && shift.from <= night_) first = std::max(first, shift.from);
      if (counts && shift.until <= night_) first = std::max(first, shift.until);
    }
  while (first < night_ && history_.nights[first].state != NightlyState::done)
    ++first;
  if (first >= *planned_.baseline) return std::nullopt;
  return first;
}

void NightWriter::compare_with_anchor(Measured const& benchmark, std::size_t anchor) {
  auto const campaign = Campaign::anchor(id_of(night_));
  store_.anchors().choose(benchmark.which, id_of(night_), id_of(anchor));
  auto answered = answer(
      processes_,
      question_about(benchmark,
                     {build_of(history_, campaign, anchor), build_of(history_, campaign, night_)}),
      chance_);
  for (auto& change : answered.changes) {
    change.muted = is_muted(change.series);
    store_.anchors().record(id_of(night_), change);
    look_at_drift(change, anchor);
  }
  if (is_raw_) keep(std::move(answered.outcomes));
}

/// As nightly::Alarms words it.
void NightWriter::look_at_drift(SeriesChange const& change, std::size_t anchor) {
  auto const& [verdict, before, after, ratio, error_bound, pairs] = change.comparison;
  if (verdict == Verdict::inconclusive || !ratio) return;
  set_alarm(store_,
            verdict == Verdict::regression && !change.muted,
            {{},
             AlarmKind::drift,
             drift_subject(change.series),
             fmt::format("{:+.1f}% [{:+.1f}%, {:+.1f}%] from nightly {} ({}) to {} ({}), though no "
                         "night in between brought as much",
                         100 * (ratio->ratio - 1),
                         100 * (ratio->low - 1),
                         100 * (ratio->high - 1),
                         history_.nights[anchor].date,
                         short_of(history_.trunk.head(anchor)),
                         planned_.date,
                         short_of(history_.trunk.head(night_))),
             planned_.announced_at + 6h,
             {}});
}

bool NightWriter::is_muted(Series const& series) const {
  return std::ranges::any_of(history_.plan.mutes, [&](PlannedMute const& mute) {
    return history_.plan.suite.series[mute.series].series == series && mute.from <= night_ &&
           night_ < mute.until;
  });
}

void NightWriter::keep(std::vector<JobOutcome> outcomes) {
  std::ranges::move(outcomes, std::back_inserter(outcomes_));
}

/// What is to be forgotten is stored for as long as its nights are worked out.
void NightWriter::store_outcomes() {
  is_raw_ = is_raw_ || has_regression_;
  if (!is_raw_) {
    auto const own = history_.trunk.head(night_);
    std::erase_if(outcomes_, [&](JobOutcome const& one) { return one.key.commit != own; });
  }
  store_.jobs().record(outcomes_);
  store_.histories().keep(id_of(night_));
  if (!is_raw_) store_.jobs().forget(campaign_, std::numeric_limits<int>::max());
}

Occasion NightWriter::occasion() const {
  // Sweeps take some hours; so exactly nobody looks.
  return {planned_.announced_at + 30min + std::chrono::seconds{8 * outcomes_.size()}, !is_raw_};
}

}  // namespace torchwatch::years
