#include "tests/years/plan.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

#include "tests/years/chance.h"
#include "tests/years/trunk.h"

namespace torchwatch::years {
namespace {

struct Scripted {
  std::size_t nights_ago = 0;
  Ending ending = Ending::culprit;
  Metric metric = Metric::latency;
};

/// One of each, newest first: what somebody sees who comes for the first time.
constexpr std::array script{Scripted{2, Ending::running},
                            Scripted{6, Ending::paused},
                            Scripted{11, Ending::two_culprits},
                            Scripted{19, Ending::range},
                            Scripted{27, Ending::not_reproduced},
                            Scripted{34, Ending::environment},
                            Scripted{41, Ending::accepted, Metric::gmem},
                            Scripted{47, Ending::undecided},
                            Scripted{56, Ending::culprit},
                            Scripted{64, Ending::failed, Metric::leak},
                            Scripted{73, Ending::layout},
                            Scripted{81, Ending::cancelled, Metric::cmem}};

/// What most incidents come to.
constexpr std::array usual{Ending::culprit,
                           Ending::culprit,
                           Ending::culprit,
                           Ending::culprit,
                           Ending::culprit,
                           Ending::two_culprits,
                           Ending::accepted,
                           Ending::range,
                           Ending::range,
                           Ending::environment,
                           Ending::undecided,
                           Ending::layout,
                           Ending::not_reproduced};

bool are_near(std::size_t one, std::size_t other) {
  constexpr std::size_t nights = 12;
  return one < other + nights && other < one + nights;
}

/// Whether a step of that night would be seen for what it is.
bool is_quiet(TrueSeries const& one, std::size_t night) {
  constexpr double most_noise = 0.02;
  if (one.noise > most_noise) return false;
  if (one.series.metric == Metric::leak && one.base > 0) return false;
  return std::ranges::none_of(one.shifts, [night](Shift const& shift) {
    return are_near(shift.from, night) || (shift.until != never && are_near(shift.until, night));
  });
}

/// Draws what happens and moves the series.
class Planner {
 public:
  Planner(Request const& request, Suite suite, std::vector<Night> const& nights)
      : nights_{nights},
        chance_{request.seed, "plan"} {
    plan_.suite = std::move(suite);
  }

  Plan take() && { return std::move(plan_); }

  void add_incidents();
  void add_improvements();
  void add_drifts();
  void add_muted_regression();
  void add_outages();

 private:
  std::optional<std::size_t> judged_near(std::size_t nights_ago) const;
  void add_incident(std::size_t night, Ending ending, Metric metric);
  Cause cause(std::size_t night, double from, double to, Metric metric);
  std::size_t quiet_series(Metric metric, std::size_t night);
  Metric drawn_metric();
  std::size_t end_of(std::size_t night, Ending ending);
  void move(Moved const& moved, std::size_t from, std::size_t until);

  std::vector<Night> const& nights_;
  Chance chance_;
  Plan plan_;
  std::set<std::size_t> taken_;        // series that the same event has moved already
  std::set<FleetBenchmark> drifting_;  // what has steps is anchored to the last of them
  std::size_t next_blunder_ = 0;
};

/// The place of a judged night at least so many before the newest, that follows another; nothing
/// when the history does not reach as far.
std::optional<std::size_t> Planner::judged_near(std::size_t nights_ago) const {
  for (auto ago = nights_ago; ago + 1 < nights_.size(); ++ago) {
    auto const at = nights_.size() - 1 - ago;
    if (nights_[at].state == NightlyState::done && nights_[at].baseline) return at;
  }
  return std::nullopt;
}

void Planner::add_incidents() {
  for (auto const& [nights_ago, ending, metric] : script)
    if (auto const night = judged_near(nights_ago)) add_incident(*night, ending, metric);
  for (auto ago = script.back().nights_ago + chance_.from_to(15, 45);;
       ago += chance_.from_to(15, 45)) {
    auto const night = judged_near(ago);
    if (!night) break;
    add_incident(*night, chance_.pick(usual), drawn_metric());
  }
  std::ranges::sort(plan_.incidents, {}, &PlannedIncident::night);
}

void Planner::add_incident(std::size_t night, Ending ending, Metric metric) {
  taken_.clear();
  PlannedIncident incident{night, ending, {}};
  if (ending == Ending::two_culprits)
    incident.causes = {cause(night, 0.05, 0.4, metric), cause(night, 0.5, 0.95, drawn_metric())};
  else
    incident.causes = {cause(night, 0.05, 0.95, metric)};
  auto const until = end_of(night, ending);
  for (auto const& one : incident.causes)
    for (auto const& moved : one.moved)
      move(moved, night, until);
  plan_.incidents.push_back(std::move(incident));
}

/// By a commit in that part of the commits.
Cause Planner::cause(std::size_t night, double from, double to, Metric metric) {
  Cause cause{chance_.between(from, to), next_blunder_++ % blunders.size(), {}};
  for (auto left = chance_.from_to(1, 4); left > 0; --left) {
    Moved moved{quiet_series(metric, night)};
    if (metric == Metric::leak)
      moved.added = 1024.0 * static_cast<double>(chance_.from_to(4, 64));
    else
      moved.factor = chance_.between(1.11, 1.31);
    cause.moved.push_back(moved);
  }
  return cause;
}

Metric Planner::drawn_metric() {
  if (chance_.happens(0.7)) return Metric::latency;
  return chance_.pick(std::array{Metric::cmem, Metric::gmem, Metric::leak});
}

/// One that nothing else moves about that night, if there is such a one.
std::size_t Planner::quiet_series(Metric metric, std::size_t night) {
  constexpr int patience = 1000;
  auto const& all = plan_.suite.series;
  for (int tries = 0;; ++tries) {
    auto const at = chance_.below(all.size());
    auto const& one = all[at];
    if (one.series.metric != metric || taken_.contains(at)) continue;
    if (drifting_.contains({one.series.fleet, one.series.benchmark})) continue;
    if (tries < patience && !is_quiet(one, night)) continue;
    taken_.insert(at);
    return at;
  }
}

/// The first night without the regression.
std::size_t Planner::end_of(std::size_t night, Ending ending) {
  switch (ending) {
    case Ending::not_reproduced:
    case Ending::layout:
      return night + 1;  // that night only
    case Ending::environment:
      return night + chance_.from_to(3, 6);
    case Ending::running:
    case Ending::paused:
    case Ending::accepted:
    case Ending::undecided:
      return never;
    case Ending::culprit:
    case Ending::two_culprits:
    case Ending::range:
    case Ending::failed:
    case Ending::cancelled:
      break;
  }
  return chance_.happens(0.75) ? night + chance_.from_to(3, 14) : never;
}

void Planner::move(Moved const& moved, std::size_t from, std::size_t until) {
  plan_.suite.series[moved.series].shifts.push_back({from, until, moved.factor, moved.added});
}

void Planner::add_improvements() {
  constexpr std::size_t first = 30;
  for (auto ago = first; auto const night = judged_near(ago); ago += chance_.from_to(40, 80)) {
    taken_.clear();
    double const factor = chance_.between(0.72, 0.9);
    for (auto left = chance_.from_to(1, 5); left > 0; --left)
      move({quiet_series(Metric::latency, *night), factor}, *night, never);
  }
}

/// The newest one is still going on.
void Planner::add_drifts() {
  constexpr std::size_t first = 100;
  for (auto ago = first; auto const night = judged_near(ago); ago += chance_.from_to(120, 260)) {
    taken_.clear();
    auto const length = ago == first ? std::size_t{150} : chance_.from_to(60, 110);
    auto& one = plan_.suite.series[quiet_series(Metric::latency, *night)];
    one.drifts.push_back({*night, length, chance_.between(1.25, 1.32)});
    drifting_.insert({one.series.fleet, one.series.benchmark});
  }
}

/// In the night of the culprit, so that the incident shows what is muted beside what is not.
void Planner::add_muted_regression() {
  constexpr std::size_t nights_before = 12;
  constexpr std::size_t nights_after = 25;
  auto const newest = std::ranges::find(
      plan_.incidents.rbegin(), plan_.incidents.rend(), Ending::culprit, &PlannedIncident::ending);
  if (newest == plan_.incidents.rend()) return;
  auto const night = newest->night;
  taken_.clear();
  for (auto const& moved : newest->causes.front().moved)
    taken_.insert(moved.series);
  auto const series = quiet_series(Metric::latency, night);
  move({series, 1.18}, night, night + nights_after);
  plan_.mutes.push_back(
      {series, night - std::min(night, nights_before), night + nights_after + 10});
}

/// One is over and one is not.
void Planner::add_outages() {
  constexpr std::size_t longest = 9;
  auto const any = [this] {
    return chance_.below(plan_.suite.benchmarks.size());
  };
  if (auto const night = judged_near(60))
    plan_.outages.push_back({any(), *night, *night + longest});
  if (auto const night = judged_near(4)) plan_.outages.push_back({any(), *night});
}

}  // namespace

Plan plan_of(Request const& request, Suite suite, std::vector<Night> const& nights) {
  Planner planner{request, std::move(suite), nights};
  planner.add_drifts();
  planner.add_incidents();
  planner.add_improvements();
  planner.add_muted_regression();
  planner.add_outages();
  return std::move(planner).take();
}

}  // namespace torchwatch::years
