#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "storage/base/ids.h"
#include "storage/domain/benchmark.h"

namespace torchwatch {

/// The result of the test whether build B differs from build A on a series.
enum class Verdict { regression, improvement, unchanged, inconclusive };

std::string_view to_string(Verdict verdict);
std::optional<Verdict> parse_verdict(std::string_view text);

/// The ratio of B to A and its interval. 1.07 is 7% more.
struct RatioInterval {
  double ratio = 1;
  double low = 1;
  double high = 1;
};

/// A verdict and its evidence.
struct Comparison {
  Verdict verdict = Verdict::inconclusive;
  double before = 0;                   ///< A's level, in the metric's unit
  double after = 0;                    ///< B's level
  std::optional<RatioInterval> ratio;  ///< absent when A's level is zero (a leak that appeared)
  double error_bound = 0;              ///< probability that the interval misses the true ratio
  int pairs = 0;                       ///< processes measured of each build
};

/// True when the comparison has levels. It has none when too many processes of a build failed.
bool has_levels(Comparison const& comparison);

/// A series and the comparison that shows its change.
struct SeriesChange {
  Series series;
  Comparison comparison;
  bool muted = false;  ///< a user muted the series: the change is not reported
};

/// Returns the ratio of the costs of a change: above 1 is worse. The ratio of the values, or its
/// reciprocal where higher values are better. Without a ratio: infinity for a value that got worse,
/// such as a leak that appeared, else 0.
double cost_ratio(SeriesChange const& change);

/// Returns the changes with the largest ratio of costs first.
std::vector<SeriesChange> worst_first(std::vector<SeriesChange> changes);

/// A verdict on one series of a nightly.
struct NightlyVerdict {
  NightlyId nightly;
  SeriesChange change;
};

}  // namespace torchwatch
