#pragma once

#include <vector>

namespace torchwatch::worker {

/// The middle value, or the mean of the two middle ones. `values` must not be empty.
double median(std::vector<double> values);

/// The places of values that are far from the rest: their modified z-score is beyond 3.5 (Iglewicz
/// and Hoaglin 1993, How to detect and handle outliers), where values within 1% of the median are
/// never far. `values` must not be empty.
std::vector<int> outliers(std::vector<double> const& values);

/// Theil-Sen slope of values at equal distances: the median of the slopes of all pairs. Needs two
/// values.
double slope(std::vector<double> const& values);

/// Whether values at equal distances rise or fall beyond doubt: Mann (1945) and Kendall's test,
/// corrected for ties, at one in a thousand on either side. Seven values or fewer never do.
bool has_trend(std::vector<double> const& values);

}  // namespace torchwatch::worker
