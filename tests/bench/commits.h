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
  double ratio = 1;  ///< of what is measured after it to what is measured before
};

/// How the logarithm of a run deviates, with quartiles or a standard deviation of `Day::noise`.
enum class Shape {
  normal,
  two_modes,  ///< 15% of the processes are slow by luck, by almost three standard deviations
  cauchy,     ///< with the quartiles of a normal deviation
};

/// Days of commits to search, all alike but for chance.
struct Day {
  std::size_t commits = 64;
  std::size_t series = 1;
  std::vector<double> ratios;  ///< a step each, at random commits; of series 0, 1, ... in turn
  double noise = 0.03;         ///< standard deviation of the logarithm of a run
  double strays = 0;           ///< share of runs that something disturbs: 10 to 80% slower
  double drift = 0;            ///< standard deviation of the logarithm of the pace of a round
  double builds = 0;  ///< ... of what every build adds to its own runs, by its layout alone
  Shape shape = Shape::normal;
  double rise = 0;  ///< of the logarithm of the pace, over thirty rounds and on

  std::string name() const;
};

/// One day of commits whose builds can be run. The n-th run of a series at a position gives the
/// same value whoever asks and whatever was asked before, so all finders see the same random
/// numbers.
class Commits {
 public:
  Commits(Day const& day, std::uint64_t seed);

  Day const& day() const { return day_; }

  std::uint64_t seed() const { return seed_; }

  std::vector<Step> const& steps() const { return steps_; }

  /// Milliseconds of one more process of the build that has the first `position` commits, made with
  /// a layout. What runs in one round runs at one pace.
  double run(std::size_t series, std::size_t position, std::size_t round, std::size_t layout = 0);

  /// In a round of its own.
  double run(std::size_t series, std::size_t position) {
    return run(series, position, static_cast<std::size_t>(runs_));
  }

  /// What a build would measure if there were no noise.
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
