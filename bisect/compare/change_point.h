#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace torchwatch::bisect {

/// A change of a series' level. Places are indices of the history.
struct ChangePoint {
  std::size_t at = 0;        ///< the first value of the new level
  std::size_t earliest = 0;  ///< first place of the interval that holds the true one
  std::size_t latest = 0;    ///< last place of that interval
  double change = 0;         ///< new level minus old level, on the scale of the values
  double low = 0;            ///< interval of the change
  double high = 0;
};

/// The probability that an interval of `change_points` misses the true place or the true change.
inline constexpr double change_point_error = 0.01;

/// Returns the change points of a history in time order. Values that are not finite are left out,
/// like nights without a value: distances in time do not matter. The indices that are returned
/// count them. Give logarithms of quantities that change by ratios. Pure.
///
/// The model of a history is levels, noise and outliers. Noise is what remains when the levels are
/// taken out, and levels are what stands out of that noise. The iteration begins with the least
/// noise possible and raises it until levels and noise agree:
///
/// - The least noise is the usual difference between neighbours, and at least a third of the grain,
///   the smallest difference between two values. So an exact series has little noise.
/// - On a host whose pace wanders, neighbours are alike, and levels look surer than they are. So
///   the remainder counts by its long-run variance, that of the mean of many nights.
/// - A value farther from its level than three standard deviations is an outlier. The more outliers
///   returned to their level, the less one counts against the level.
///
/// Values are assumed to be independent, or to have a memory that is short compared with the
/// history. Nights that correlate by 0.9 look like levels in a history of less than 100. Under
/// these assumptions, fewer than one in a hundred flat histories of any length have a change point,
/// also with outliers, heavy tails or a coarse clock. Of 365 nights whose neighbours correlate by
/// 0.9, it is fewer than one in fifty. A history of fewer than `least_history` values has none.
///
/// A shift of many times the noise, such as any shift of an exact series, is reported after three
/// nights at the new level. A visit to another level is two changes, and takes six nights. Both
/// take one night more in histories of three years or longer. Shorter ones are outliers. With more
/// outliers a shift takes longer: eleven nights where one night in five is an outlier.
///
/// A level is the value that at least nine of ten nights have, else the mean without outliers. The
/// change of a series that repeats exactly has an interval without width.
///
/// The place's interval holds all alternatives whose likelihood ratio against it stays below
/// 2 / error on either side. That ratio is a nonnegative martingale, so Ville's inequality bounds
/// how often the interval misses.
std::vector<ChangePoint> change_points(std::span<double const> history);

/// The fewest values in which change points are looked for.
inline constexpr std::size_t least_history = 10;

}  // namespace torchwatch::bisect
