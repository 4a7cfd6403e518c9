#pragma once

#include <vector>

namespace torchwatch::worker {

/// The middle value, or the mean of the two middle ones. `values` must not be empty.
double median(std::vector<double> values);

/// Theil-Sen slope of values at equal distances: the median of the slopes of all pairs. Needs two
/// values.
double slope(std::vector<double> const& values);

}  // namespace torchwatch::worker
