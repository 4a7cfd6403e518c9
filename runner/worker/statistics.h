#pragma once

#include <vector>

namespace torchwatch::worker {

/// Returns the middle value, or the mean of the two middle ones. `values` must not be empty.
double median(std::vector<double> values);

/// Returns the indices of outliers: values whose modified z-score is beyond 3.5 (Iglewicz and
/// Hoaglin 1993, How to detect and handle outliers), except values within 1% of the median.
/// `values` must not be empty.
std::vector<int> outliers(std::vector<double> const& values);

/// Returns the Theil-Sen slope of equally spaced values: the median of the slopes of all pairs.
/// Needs at least two values.
double slope(std::vector<double> const& values);

/// True when equally spaced values rise or fall significantly: the Mann-Kendall test (Mann 1945),
/// corrected for ties, at a level of 0.1% on either side. Seven values or fewer have no trend.
bool has_trend(std::vector<double> const& values);

}  // namespace torchwatch::worker
