#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "bisect/compare/compare.h"

namespace torchwatch::bisect {

/// A difference that would be 0 if builds of one commit were equally fast.
struct BuildDifference {
  double size = 0;         ///< on the scale of logarithms
  double noise = 0;        ///< standard deviation of what measuring added to it
  std::size_t builds = 2;  ///< whose own levels it is made of
};

/// By how much two builds of one commit differ. Nothing without four pairs of times above zero.
std::optional<BuildDifference> difference_of(std::span<Pair const> pairs);

/// By how much a change of two commits differs between two layouts, in which both were built: four
/// builds are in it. Nothing as above, in either layout.
std::optional<BuildDifference> difference_of(std::span<Pair const> usual,
                                             std::span<Pair const> rebuilt);

/// Differences from which a standard deviation is read.
inline constexpr std::size_t fewest_differences = 8;

/// Standard deviation of the logarithms of times between builds of equal commits: the median size
/// of the differences, less that of the noise in them. Half of them may be anything. Nothing when
/// there are too few. Pure.
std::optional<double> build_variation(std::span<BuildDifference const> differences);

}  // namespace torchwatch::bisect
