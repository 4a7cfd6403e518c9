#pragma once

#include "config/options.h"
#include "storage/domain/benchmark.h"

namespace torchwatch::bisect {

/// The largest change from the level `before` that does not count yet, in the metric's unit:
/// `options.threshold` of the level, or the metric's floor if that is more.
double tolerance(double before, Metric metric, config::DecideOptions const& options);

}  // namespace torchwatch::bisect
