#include "tests/years/plots.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace torchwatch::years {
namespace {

bool is_on(FleetBenchmark const& which, Metric metric) {
  if (metric == Metric::leak) return which.benchmark.device == Device::cpu;
  if (metric == Metric::gmem) return which.benchmark.device == Device::cuda;
  return true;
}

/// Returns a disturbance of the time of these series' benchmarks where `where` is true.
Disturbance slows(std::vector<Series> const& moved,
                  double ratio,
                  std::function<bool(JobOutcome const&, Build const&)> where) {
  std::set<FleetBenchmark> benchmarks;
  for (auto const& series : moved)
    benchmarks.insert({series.fleet, series.benchmark});
  return {[benchmarks = std::move(benchmarks), where = std::move(where)](JobOutcome const& outcome,
                                                                         Build const& build) {
            return benchmarks.contains({outcome.key.fleet, outcome.key.benchmark}) &&
                   where(outcome, build);
          },
          ratio};
}

}  // namespace

void Plots::play(Event const& event, std::vector<lab::CommitText>& commits) {
  commits_ = &commits;
  switch (event.plot) {
    case Plot::two_culprits:
      return play_two_culprits(event);
    case Plot::environment:
      return play_environment();
    case Plot::layout:
      return play_layout();
    case Plot::not_reproduced:
      return play_disturbed_host();
    case Plot::improvement:
      return play_improvement();
    default:
      return play_culprit(event);
  }
}

void Plots::landed() {
  for (auto const at : std::exchange(broken_, {}))
    stage_.world.parts->builder.broken.insert(stage_.world.sha(at));
}

/// Returns the commit at a share of today's commits, in [0, 1).
std::size_t Plots::commit_at(double share) const {
  auto const count = stage_.last_commit - stage_.first_commit + 1;
  return stage_.first_commit + static_cast<std::size_t>(share * static_cast<double>(count));
}

/// Returns the next one or two series. Benchmarks take turns, so that a change is fixed before its
/// benchmark changes again.
std::vector<Series> Plots::next_series(Metric metric) {
  auto const& all = stage_.suite.eventful();
  auto left = chance_.from_to(1, 2);
  std::vector<Series> series;
  while (series.size() < left) {
    auto const& which = all[next_benchmark_++ % all.size()];
    if (is_on(which, metric)) series.push_back({which.fleet, which.benchmark, metric});
  }
  return series;
}

Plots::Cause Plots::cause(double from, double to, Metric metric) {
  double const ratio = metric == Metric::leak ? static_cast<double>(chance_.from_to(5, 65))
                                              : chance_.between(1.12, 1.31);
  return {commit_at(chance_.between(from, to)), next_series(metric), ratio};
}

void Plots::land(Cause const& cause, bool is_fixed) {
  stage_.world.change(cause.commit, is_any_of(cause.moved), cause.ratio);
  give_reason(cause);
  if (is_fixed) fix_later(cause.moved, cause.ratio);
}

void Plots::fix_later(std::vector<Series> const& moved, double ratio) {
  auto const nights = chance_.from_to(2, 6);
  if (nights > stage_.today) return;
  stage_.mornings.on(stage_.today - nights, [this, moved, ratio] {
    stage_.world.change(stage_.first_commit, is_any_of(moved), 1 / ratio);
  });
}

void Plots::give_reason(Cause const& cause) {
  auto const& blunder = blunders.at(next_blunder_++ % blunders.size());
  stage_.landing.blunder(commits_->at(cause.commit - stage_.first_commit), blunder);
  for (auto const& series : cause.moved)
    stage_.processes.blame({series.fleet, series.benchmark}, blunder.op);
}

/// Breaks the builds of 8% of today's commits, except of those that proofs need.
void Plots::break_some_builds(std::vector<std::size_t> const& culprits) {
  for (auto at = stage_.first_commit; at < stage_.last_commit; ++at) {
    bool const is_needed = std::ranges::any_of(
        culprits, [at](std::size_t culprit) { return at + 1 >= culprit && at <= culprit + 1; });
    if (!is_needed && chance_.happens(0.08)) broken_.insert(at);
  }
}

void Plots::break_builds_around(std::size_t culprit) {
  for (auto at = culprit - 2; at < culprit + 3; ++at)
    broken_.insert(at);
}

void Plots::play_culprit(Event const& event) {
  bool const is_range = event.plot == Plot::range;
  bool const stays = event.plot == Plot::accepted || event.plot == Plot::bisected_again ||
                     event.plot == Plot::paused || event.plot == Plot::undecided;
  auto const one = cause(is_range ? 0.3 : 0.1, is_range ? 0.6 : 0.9, event.metric);
  land(one, !stays);
  break_some_builds({one.commit});
  if (is_range) break_builds_around(one.commit);
  if (event.plot == Plot::failed) broken_.insert(stage_.last_commit);
  if (event.plot == Plot::undecided) limit_readings();
  if (event.plot == Plot::paused) steer_bisection(BisectionState::paused);
  if (event.plot == Plot::cancelled) steer_bisection(BisectionState::cancelled);
  stage_.world.parts->builder.reverts_apply = chance_.happens(0.85);
}

void Plots::play_two_culprits(Event const& event) {
  auto const first = cause(0.1, 0.4, event.metric);
  auto const second = cause(0.6, 0.9, Metric::latency);
  land(first, true);
  land(second, true);
  break_some_builds({first.commit, second.commit});
}

void Plots::play_environment() {
  auto const nights = std::min(stage_.today, chance_.from_to(3, 6));
  auto const is_there = stage_.is_published(stage_.today, stage_.today - nights + 1);
  stage_.processes.disturb(
      slows(next_series(Metric::latency),
            chance_.between(1.13, 1.25),
            [is_there](JobOutcome const&, Build const& build) { return is_there(build); }));
  auto const usual = std::exchange(stage_.library, "libgomp-90aa4e17.so.1");
  stage_.mornings.on(stage_.today - nights, [this, usual] { stage_.library = usual; });
}

void Plots::play_layout() {
  auto const moved = next_series(Metric::latency);
  double const ratio = chance_.between(1.13, 1.25);
  stage_.world.change_layout(commit_at(chance_.between(0.1, 0.9)), is_any_of(moved), ratio);
  if (stage_.today == 0) return;
  stage_.mornings.on(stage_.today - 1, [this, moved, ratio] {
    stage_.world.change_layout(stage_.first_commit, is_any_of(moved), 1 / ratio);
  });
}

/// Slows the processes of today's nightly in its sweep, but not in later rounds.
void Plots::play_disturbed_host() {
  NightlyId const tonight{static_cast<std::int64_t>(stage_.world.nightlies().size()) + 1};
  auto const where = [campaign = Campaign::of(tonight),
                      is_there = stage_.is_published(stage_.today, stage_.today)](
                         JobOutcome const& outcome, Build const& build) {
    return outcome.key.campaign == campaign && is_there(build);
  };
  stage_.processes.disturb(slows(next_series(Metric::latency), 1.17, where));
}

void Plots::play_improvement() {
  auto const moved = next_series(Metric::latency);
  stage_.world.change(commit_at(chance_.uniform()), is_any_of(moved), chance_.between(0.75, 0.88));
}

void Plots::limit_readings() {
  constexpr int few = 9;
  auto& most = stage_.world.options.bisect.max_readings;
  stage_.evenings.on(stage_.today, [&most, usual = most] { most = usual; });
  most = few;
}

void Plots::steer_bisection(BisectionState state) {
  constexpr int rounds = 2;
  stage_.interrupt({rounds, [this, state](BisectionId id) {
                      stage_.world.parts->queue.steer(id, state);
                    }});
}

Series Plots::special(Test test, Device device) const {
  auto const which =
      benchmark_on(device == Device::cpu ? "cpu" : "gpu", stage_.suite.special(), test);
  return {which.fleet, which.benchmark, Metric::latency};
}

/// Makes a series slower by the same small ratio each night, `ratio` in all.
void Plots::arrange_drift(DaysAgo from, DaysAgo nights, double ratio) {
  double const each = std::pow(ratio, 1 / static_cast<double>(nights));
  auto const moves = is_any_of({special(Test::eval, Device::cpu)});
  for (DaysAgo night = 0; night < nights && night <= from; ++night)
    stage_.mornings.on(from - night, [this, moves, each] {
      stage_.world.change(stage_.first_commit, moves, each);
    });
}

void Plots::arrange_outage(Test test, Device device, DaysAgo from, DaysAgo until) {
  auto const series = special(test, device);
  FleetBenchmark const which{series.fleet, series.benchmark};
  Disturbance outage;
  outage.strikes = [which, is_there = stage_.is_published(from, until)](JobOutcome const& outcome,
                                                                        Build const& build) {
    return outcome.key.fleet == which.fleet && outcome.key.benchmark == which.benchmark &&
           is_there(build);
  };
  outage.error = JobError::crashed;
  outage.message = "worker ended by signal 11 (segmentation fault)";
  stage_.processes.disturb(std::move(outage));
}

void Plots::arrange_muted_regression() {
  auto const moves = is_any_of({special(Test::eval, Device::cuda)});
  for (auto const& event : stage_.script.events()) {
    if (event.plot != Plot::culprit || event.ago > 60) continue;
    stage_.mornings.on(event.ago,
                       [this, moves] { stage_.world.change(commit_at(0.5), moves, 1.18); });
  }
}

void Plots::arrange_background() {
  stage_.processes.make_noisy({"gpu", special(Test::train, Device::cuda).benchmark});
  arrange_drift(230, 60, 1.3);
  arrange_drift(100, 150, 1.32);
  arrange_outage(Test::train, Device::cpu, 62, 56);
  arrange_outage(Test::eval, Device::cuda, 4, 0);
  arrange_muted_regression();
  stage_.mornings.on(68, [this] { stage_.processes.change_host("cpu"); });
  stage_.mornings.on(125, [this] { stage_.processes.change_host("gpu"); });
}

}  // namespace torchwatch::years
