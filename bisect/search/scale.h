#pragma once

#include "bisect/search/posterior.h"
#include "config/options.h"
#include "storage/domain/benchmark.h"
#include "storage/domain/bisection.h"

namespace torchwatch::bisect {

/// The scale on which changes of a metric add up, and the priors of a search on it. Times and
/// memory use logarithms. A leak may be zero, so its scale is linear: on it the metric's floor, the
/// smallest leak that is reported, has the length of the threshold on the other scales. Levels grow
/// with the cost (bisect/compare/cost.h): a regression is an increase for every metric.
class Scale {
 public:
  /// `threshold`: of metrics without their own.
  Scale(Metric metric, double threshold, config::DecideOptions const& options);

  /// Converts between values, in the metric's unit, and levels. Memory below one page counts as one
  /// page, and zero of another metric as a millionth, so that a change from zero has a size.
  double level(double value) const;
  double value(double level) const;

  /// The smallest change that is reported, as a difference of levels.
  double threshold() const { return threshold_; }

  /// The prior before anything is measured. A commit's own change is at least two thirds of the
  /// threshold, so that two commits that only exceed it together are found.
  Expectation expectation(Direction direction) const;

  /// The prior of the rest of a change by `total` when a proven change is taken out. Most likely
  /// there is no rest; else a commit made at least a quarter of `total`, up or down. That quarter
  /// is raised to half of the threshold, below which changes do not matter, and limited to all of
  /// it.
  Expectation rest(double total) const;

 private:
  Metric metric_;
  double threshold_;
  double unit_;  // the unit of a linear scale
};

}  // namespace torchwatch::bisect
