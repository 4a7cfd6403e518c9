#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "config/options.h"
#include "storage/domain/benchmark.h"

namespace torchwatch::bisect {

/// One series of one build, measured on two nights. One value a round, in the metric's unit; each
/// night has at least one.
struct Remeasured {
  Metric metric = Metric::latency;
  std::vector<double> then;
  std::vector<double> now;
};

/// The series of one fleet's baseline, measured on the baseline's own night and again on one night.
using RemeasuredNight = std::vector<Remeasured>;

/// A shift of one metric of a fleet between two nights of the same build.
struct EnvironmentShift {
  Metric metric = Metric::latency;
  std::size_t series = 0;
  std::size_t shifted = 0;  ///< series that moved beyond their tolerance in the fleet's direction
  double ratio = 1;         ///< median over the series of now / then
  std::size_t nights = 0;   ///< earlier nights with a known shift of the metric
  double usual = 1;         ///< ratio, at least 1: the largest shift of nine in ten of them
  friend bool operator==(EnvironmentShift const&, EnvironmentShift const&) = default;
};

/// Compares measurements of one build on two nights. They differ by the host, its software or its
/// other users, never by a commit. Returns the metrics of which more than half of the series moved
/// in one direction by more than their tolerance, if the fleet's nights do not usually do that:
///
/// - Five or more earlier nights determine the usual shift. The median shift over the series has to
///   exceed the largest of nine in ten of theirs. It also has to exceed their root mean square
///   times the quantile of Student's t for 1 in 1,000 nights, with one degree of freedom a night.
///   From ten nights on, an earlier night counts for at most three times the typical one. So a
///   night that raised an alarm does not hide the next; with fewer nights it may.
/// - Fewer nights do not determine it: shared hosts differ by a quarter from one minute to the next
///   although the rounds of one sweep agree. Then the shift has to exceed that of every earlier
///   night, a factor of 1.4, and five times the difference between rounds of one sweep.
/// - Memory has no pace: processes agree to the byte, so the count of series is enough.
///
/// `earlier` may be in any order. Values that are not finite are skipped. Pure.
std::vector<EnvironmentShift> environment_shifts(RemeasuredNight const& tonight,
                                                 std::span<RemeasuredNight const> earlier,
                                                 config::DecideOptions const& options);

}  // namespace torchwatch::bisect
