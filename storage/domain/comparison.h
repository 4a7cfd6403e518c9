#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "storage/base/ids.h"
#include "storage/domain/benchmark.h"

namespace torchwatch {

/// Is build B different from build A on a series?
enum class Verdict { regression, improvement, unchanged, inconclusive };

std::string_view to_string(Verdict verdict);
std::optional<Verdict> parse_verdict(std::string_view text);

/// Ratio of B to A with its interval. 1.07 is 7% more.
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

/// Whether it has levels: not where processes of a build failed until nothing could be said.
bool has_levels(Comparison const& comparison);

/// A series that moved, and how.
struct SeriesChange {
  Series series;
  Comparison comparison;
  bool muted = false;  ///< somebody wants no report of it
};

/// Those that grew most first. What came from nothing has no ratio, and is worse than any.
std::vector<SeriesChange> worst_first(std::vector<SeriesChange> changes);

/// A verdict on one series of a nightly.
struct NightlyVerdict {
  NightlyId nightly;
  SeriesChange change;
};

}  // namespace torchwatch
