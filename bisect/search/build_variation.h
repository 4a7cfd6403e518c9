#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "bisect/compare/compare.h"

namespace torchwatch::bisect {

/// A difference that would be 0 if builds of one commit were equally fast.
struct BuildDifference {
  double size = 0;         ///< difference of logarithms
  double noise = 0;        ///< standard deviation of its measurement error
  std::size_t builds = 2;  ///< number of builds whose own levels contribute to it
};

/// Returns the difference of two builds of one commit. Returns nothing with fewer than four pairs
/// of times above zero.
std::optional<BuildDifference> difference_of(std::span<Pair const> pairs);

/// Returns the difference between the changes that two commits show in two layouts. Four builds
/// contribute to it. Returns nothing with fewer than four pairs of times above zero in a layout.
std::optional<BuildDifference> difference_of(std::span<Pair const> usual,
                                             std::span<Pair const> rebuilt);

/// The fewest differences from which a standard deviation is estimated.
inline constexpr std::size_t fewest_differences = 8;

/// Returns the standard deviation of the logarithms of times between builds of equal commits: the
/// median size of the differences, corrected for their noise. Robust against outliers in almost
/// half of the differences. Returns nothing for fewer than `fewest_differences`. Pure.
std::optional<double> build_variation(std::span<BuildDifference const> differences);

}  // namespace torchwatch::bisect
