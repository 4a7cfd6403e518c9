#pragma once

#include <set>
#include <vector>

#include "tests/years/stage.h"

namespace torchwatch::years {

/// Makes the script's events happen.
class Plots {
 public:
  explicit Plots(Stage& stage) : stage_{stage} {}

  /// Makes an event happen in today's nightly. `commits`: today's commits before they land. Changes
  /// the subjects of culprits.
  void play(Event const& event, std::vector<lab::CommitText>& commits);

  /// Call this when the commits of play() have landed.
  void landed();

  /// Arranges what is not an event of one nightly: drifts, changed hosts, benchmarks that stop, a
  /// muted regression.
  void arrange_background();

 private:
  /// A commit of today that changes some series by a ratio.
  struct Cause {
    std::size_t commit = 0;
    std::vector<Series> moved;
    double ratio = 1;
  };

  Cause cause(double from, double to, Metric metric);
  std::vector<Series> next_series(Metric metric);
  std::size_t commit_at(double share) const;
  void land(Cause const& cause, bool is_fixed);
  void fix_later(std::vector<Series> const& moved, double ratio);
  void break_some_builds(std::vector<std::size_t> const& culprits);
  void break_builds_around(std::size_t culprit);
  void give_reason(Cause const& cause);
  void play_culprit(Event const& event);
  void play_two_culprits(Event const& event);
  void play_environment();
  void play_layout();
  void play_disturbed_host();
  void play_improvement();
  void limit_readings();
  void steer_bisection(BisectionState state);
  void arrange_drift(DaysAgo from, DaysAgo nights, double ratio);
  void arrange_outage(Test test, Device device, DaysAgo from, DaysAgo until);
  void arrange_muted_regression();
  Series special(Test test, Device device) const;

  Stage& stage_;
  Chance chance_{stage_.request.seed, "plots"};
  std::vector<lab::CommitText>* commits_ = nullptr;
  std::set<std::size_t> broken_;  // today's unbuildable commits
  std::size_t next_benchmark_ = 0;
  std::size_t next_blunder_ = 0;
};

}  // namespace torchwatch::years
