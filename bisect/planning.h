#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "bisect/posterior.h"

namespace torchwatch::bisect {

/// What it takes to learn something, in seconds.
struct Costs {
  double reading = 30;  ///< one process of a build that is there
  /// To have the build of a position: 0 when it is there, infinite when it cannot be made.
  std::function<double(std::size_t position)> build;
  /// Probability that a build which is not there can be made.
  std::function<double(std::size_t position)> chance;
};

/// One process to run: of which series, of which build.
struct Probe {
  std::size_t series = 0;
  std::size_t position = 0;

  bool operator==(Probe const&) const = default;
};

/// What to read next, at most `slots` processes at once; a probe may come several times. `beliefs`:
/// of each series, about the same suspects. The first probe is what promises most information about
/// where the changes are per second; a build is shared by all series. The others use what would be
/// idle in the meantime: they take no longer than the first. Empty when nothing promises any.
/// Begins with two readings of each end of each series. Pure.
///
/// Information is bounded from below with the pairwise distances of Kolchinsky and Tracey 2017,
/// Estimating mixture entropy with pairwise distances: distances of independent readings add up, so
/// several readings are weighed together without integrals.
std::vector<Probe> plan(std::span<Belief const> beliefs,
                        std::span<double const> prior,
                        Costs const& costs,
                        std::size_t slots);

}  // namespace torchwatch::bisect
