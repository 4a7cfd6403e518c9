#pragma once

#include "config/options.h"
#include "storage/domain/comparison.h"
#include "storage/domain/metric.h"

namespace torchwatch::bisect {

/// One process of each build, measured next to each other on one host; values in the metric's unit.
struct Pair {
  double before = 0;
  double after = 0;
};

/// The cost of a value: the value itself, or its reciprocal where higher values are better. Lower
/// costs are always better, so comparing, screening and bisecting know one direction. Judging
/// values of a metric thus equals judging their reciprocals as a metric of the other direction.
/// Values of higher-is-better metrics must be positive. The inverse of itself.
double cost_of(double value, Metric metric);
Pair cost_of(Pair const& pair, Metric metric);

/// Converts a comparison of costs to one of values. The verdict stays.
Comparison values_of(Comparison costs, Metric metric);

/// The smallest relative change that is reported: the metric's own threshold, or `usual` if it has
/// none.
double threshold_of(Metric metric, double usual);

/// The largest change of the cost from `before` that is not reported: threshold_of() it, or what
/// the metric's floor comes to if that is more.
double tolerance(double before, Metric metric, config::DecideOptions const& options);

}  // namespace torchwatch::bisect
