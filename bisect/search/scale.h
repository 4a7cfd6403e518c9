#pragma once

#include "bisect/search/posterior.h"
#include "config/options.h"
#include "storage/domain/benchmark.h"
#include "storage/domain/bisection.h"

namespace torchwatch::bisect {

/// The scale on which changes of a metric add up, and what a search expects on it. Times and
/// memory: logarithms. A leak may be nothing, so it is linear: the smallest one that counts is as
/// long as the threshold is on the other scales.
class Scale {
 public:
  Scale(Metric metric, double threshold, config::DecideOptions const& options);

  /// `value` is in the metric's unit. No memory counts as one page of it, so that a change from
  /// nothing has a size.
  double level(double value) const;
  double value(double level) const;

  /// The change that counts.
  double threshold() const { return threshold_; }

  /// Before anything is measured. A commit's own change is expected to be at least two thirds of
  /// the threshold, so that two that only pass it together are seen.
  Expectation expectation(Direction direction) const;

  /// Of what is left of a change by `total` when a proven one is taken out: most likely nothing,
  /// else a quarter of it or more, up or down. That is at least half of the threshold, so that
  /// nobody looks for what does not matter, and at most all of it.
  Expectation rest(double total) const;

 private:
  Metric metric_;
  double threshold_;
  double unit_;  // of a linear scale
};

}  // namespace torchwatch::bisect
