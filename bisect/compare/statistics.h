#pragma once

#include <vector>

namespace torchwatch::bisect {

/// The middle value, or the mean of the two middle ones. Requires at least one value. NaN counts as
/// larger or smaller than every number, by its sign.
double median(std::vector<double> values);

/// Median distance from the median, scaled to the standard deviation of normal values. Robust
/// against outliers in almost half of the values. Requires at least one value.
double spread(std::vector<double> values);

}  // namespace torchwatch::bisect
