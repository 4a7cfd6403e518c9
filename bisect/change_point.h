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

/// The change points of a history in time order. Nights without a value are left out: nothing here
/// depends on distances in time. Give logarithms of what changes by ratios.
///
/// A flat history of independent values, with strays or heavy tails, has a change point in less
/// than one of a hundred cases whatever its length; histories of fewer than `least_history` values
/// have none. A shift of many times the noise is believed after three or four values at the new
/// level, and a visit to another level after twice as many; shorter ones are strays.
///
/// Noise is estimated from differences between neighbours and between blocks of neighbours, and the
/// larger counts, so that a host which drifts does not look like a series that changes. Where most
/// neighbours are equal (exact metrics) there is none, and each other value is a change.
///
/// The place's interval holds all alternatives whose likelihood ratio against it stays below
/// 2 / error on either side: a nonnegative martingale, so Ville's inequality bounds how often it
/// misses. Pure.
std::vector<ChangePoint> change_points(std::span<double const> history);

inline constexpr std::size_t least_history = 10;

}  // namespace torchwatch::bisect
