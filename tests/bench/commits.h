#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace torchwatch::bench {

/// A commit that changes a series.
struct Step {
  std::size_t series = 0;
  std::size_t commit = 0;
  double ratio = 1;  ///< level after the commit, divided by the level before it
};

/// Distribution of the logarithm of a run. `Day::noise` is its scale.
enum class Shape {
  normal,     ///< with standard deviation `Day::noise`
  two_modes,  ///< 15% of the processes, at random, are almost three standard deviations slower
  cauchy,     ///< with the quartiles of that normal distribution
};

/// A kind of day: commits to bisect, with random positions of steps and random noise.
struct Day {
  std::size_t commits = 64;
  std::size_t series = 1;
  std::vector<double> ratios;  ///< one step each, at random commits of series 0, 1, ... in turn
  double noise = 0.03;         ///< standard deviation of the logarithm of a run
  double outliers = 0;         ///< share of runs that are 10 to 80% slower
  double drift = 0;            ///< standard deviation of the logarithm of the pace of a round
  double builds = 0;  ///< standard deviation of the logarithm that the layout of a build adds
  Shape shape = Shape::normal;
  double rise = 0;  ///< increase of the logarithm of the pace in each thirty rounds

  std::string name() const;
};

/// One day of commits whose builds can be run. The n-th run of a series at a position always has
/// the same value, regardless of earlier runs. So all finders get the same random numbers.
class Commits {
 public:
  Commits(Day const& day, std::uint64_t seed);

  Day const& day() const { return day_; }

  std::uint64_t seed() const { return seed_; }

  std::vector<Step> const& steps() const { return steps_; }

  /// Runs a process of the build with the first `position` commits and that layout. Returns
  /// milliseconds. All runs of a round have one pace.
  double run(std::size_t series, std::size_t position, std::size_t round, std::size_t layout = 0);

  /// Runs a process in its own round.
  double run(std::size_t series, std::size_t position) {
    return run(series, position, static_cast<std::size_t>(runs_));
  }

  /// The milliseconds of a build without noise.
  double truth(std::size_t series, std::size_t position) const;

  int runs() const { return runs_; }

  std::size_t builds() const { return builds_.size(); }

  bool is_built(std::size_t position) const { return builds_.contains({position, 0}); }

 private:
  Day day_;
  std::uint64_t seed_;
  std::vector<Step> steps_;
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, std::uint64_t> counts_;
  std::set<std::pair<std::size_t, std::size_t>> builds_;  // position, layout
  int runs_ = 0;
};

}  // namespace torchwatch::bench
