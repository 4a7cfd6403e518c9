#pragma once

#include <map>
#include <optional>

#include "bisect/search/planner.h"

namespace torchwatch::bisection {

/// The cost of builds and measurements, learned while a bisection runs.
class CostEstimates {
 public:
  /// Takes the seconds of earlier builds, from scratch and incremental, if there were any.
  CostEstimates(std::optional<double> full, std::optional<double> incremental)
      : full_{full, 0},
        incremental_{incremental, 0} {}

  /// Call when a process of an existing build took `seconds`.
  void measured(double seconds);

  /// Call when the build at `position` exists. Making it took `seconds`, 0 if it existed before.
  void built(std::size_t position, double seconds = 0, bool is_incremental = false);

  /// Call when the build at `position` is unbuildable. Requesting it again costs nothing.
  void failed(std::size_t position) { tried_[position] = false; }

  /// Returns the costs of steps, which refer to this object. `is_warm`: the next build will be
  /// incremental.
  bisect::StepCosts costs(bool is_warm) const;

 private:
  /// The mean of observed values; the first one replaces the assumption.
  struct Mean {
    std::optional<double> seconds;
    int count = 0;

    void add(double another);
  };

  double build(bool is_warm) const;

  Mean full_;
  Mean incremental_;
  Mean reading_;
  std::map<std::size_t, bool> tried_;  // true: the build exists
};

}  // namespace torchwatch::bisection
