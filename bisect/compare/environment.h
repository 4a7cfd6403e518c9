#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "config/options.h"
#include "storage/domain/benchmark.h"

namespace torchwatch::bisect {

/// One series of one build, measured on two nights; a value a round, in the metric's unit, at least
/// one each.
struct Remeasured {
  Metric metric = Metric::latency;
  std::vector<double> then;
  std::vector<double> now;
};

/// The series of one fleet on one night: its baseline, on its own night and now.
using RemeasuredNight = std::vector<Remeasured>;

/// How far one metric of a fleet is from what it was.
struct EnvironmentShift {
  Metric metric = Metric::latency;
  std::size_t series = 0;
  std::size_t shifted = 0;  ///< whose median moved by more than its tolerance, the fleet's way
  double ratio = 1;         ///< median over the series, now to then
  std::size_t nights = 0;   ///< earlier ones of which it is known how far they moved the metric
  double usual = 1;         ///< ratio, above 1: how far they did, all but the one in ten
  friend bool operator==(EnvironmentShift const&, EnvironmentShift const&) = default;
};

/// Compares what the same build gave on two nights. What differs is the host, its software or its
/// neighbours, never a commit. Returns the metrics of which more than half of the series moved one
/// way by more than their tolerance, if that is more than the fleet's nights do by themselves:
///
/// - five earlier nights or more tell what they do. The median shift over the series has to be
///   larger than what all but one in ten of them had, and than their root mean square times what
///   Student's t is once in 1,000 nights, by as many degrees of freedom. From ten on, an earlier
///   night counts for three times what is typical at most, so one that was an alarm does not hide
///   the next; of fewer it may.
/// - fewer tell nothing: hosts that others use, too, differ by a quarter from one minute to the
/// next
///   though the rounds of one sweep agree. Then it has to be larger than any earlier one, than a
///   factor of 1.4, and than five times what rounds of one sweep differ by on either night.
/// - memory has no pace: its processes agree to the byte, so there the series are enough.
///
/// `earlier` in any order. Values that are no numbers are passed over. Pure.
std::vector<EnvironmentShift> environment_shifts(RemeasuredNight const& tonight,
                                                 std::span<RemeasuredNight const> earlier,
                                                 config::DecideOptions const& options);

}  // namespace torchwatch::bisect
