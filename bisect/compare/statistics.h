#pragma once

#include <vector>

namespace torchwatch::bisect {

/// The middle value, or the mean of the two middle ones. At least one value; what is no number
/// counts as very large or very small.
double median(std::vector<double> values);

/// Median distance from the median, as the standard deviation that normal values with it have: half
/// of them may be anything. At least one value.
double spread(std::vector<double> values);

}  // namespace torchwatch::bisect
