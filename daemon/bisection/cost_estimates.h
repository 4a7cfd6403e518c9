#pragma once

#include <map>
#include <optional>

#include "bisect/search/planner.h"

namespace torchwatch::bisection {

/// What a bisection pays for what it does, learned while it goes on.
class CostEstimates {
 public:
  /// Seconds of the builds made before, from scratch and where another was made, if any were.
  CostEstimates(std::optional<double> full, std::optional<double> incremental)
      : full_{full, 0},
        incremental_{incremental, 0} {}

  /// A process of a build that is there took `seconds`.
  void measured(double seconds);

  /// The build at `position` is there; making it took `seconds`, 0 if it was there before.
  void built(std::size_t position, double seconds = 0, bool is_incremental = false);

  /// The build at `position` cannot be made. To be told why not costs nothing.
  void failed(std::size_t position) { tried_[position] = false; }

  /// `is_warm`: the next build will be an incremental one. Refers to this object.
  bisect::StepCosts costs(bool is_warm) const;

 private:
  /// Mean of what was seen; the first one replaces what was only assumed.
  struct Mean {
    std::optional<double> seconds;
    int count = 0;

    void add(double another);
  };

  double build(bool is_warm) const;

  Mean full_;
  Mean incremental_;
  Mean reading_;
  std::map<std::size_t, bool> tried_;  // whether it is there
};

}  // namespace torchwatch::bisection
