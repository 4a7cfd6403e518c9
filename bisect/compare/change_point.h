#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace torchwatch::bisect {

/// Where a series took another level.
struct ChangePoint {
  std::size_t at = 0;        ///< the first value of the new level
  std::size_t earliest = 0;  ///< the true one may be as early as this one,
  std::size_t latest = 0;    ///< or as late as this one
  double change = 0;         ///< of the level, on the scale of the values
  double low = 0;            ///< interval of the change
  double high = 0;
};

/// How often what `change_points` says of a place or of a change misses the truth.
inline constexpr double change_point_error = 0.01;

/// The change points of a history in time order. Values that are no finite numbers are left out
/// like nights without one: nothing here depends on distances in time. What is returned counts in
/// the history as it was given. Give logarithms of what changes by ratios.
///
/// A history is taken for levels, noise and outliers. What noise is, the history says itself: noise
/// is what is left once the levels are taken out, and the levels are those that stand out of that
/// much noise. The search begins with the least noise possible and raises it until both agree:
///
/// - at least, noise is the usual difference between neighbours, and a third of the grain, the
///   smallest difference between two values: so an exact series has no more than that;
/// - a host that wanders makes neighbours alike, and so its levels look surer than they are. What
/// is
///   left counts by its long-run variance, that of the mean of many nights;
/// - values farther from their level than three standard deviations are outliers. The more of them
///   came back to their level, the less one counts against it.
///
/// Assumed are independent values or a wandering whose memory is short beside the history: nights
/// that correlate by 0.9 look like levels in a history of less than 100. Then less than one of a
/// hundred flat histories has a change point whatever its length, with outliers, heavy tails or a
/// coarse clock, and less than one of fifty of 365 nights whose neighbours correlate by 0.9. A
/// history of fewer than `least_history` values has none.
///
/// A shift of many times the noise, so any in an exact series, is believed after three nights at
/// the new level, and a visit to another level from six on, since it is two changes; a night each
/// more in histories of three years and longer. Shorter ones are outliers. The more outliers, the
/// longer: eleven nights where one in five is an outlier.
///
/// A level is what at least nine of ten values are, and else their mean without outliers. The
/// change of a series that repeats exactly has an interval without width.
///
/// The place's interval holds all alternatives whose likelihood ratio against it stays below
/// 2 / error on either side: a nonnegative martingale, so Ville's inequality bounds how often it
/// misses. Pure.
std::vector<ChangePoint> change_points(std::span<double const> history);

inline constexpr std::size_t least_history = 10;

}  // namespace torchwatch::bisect
