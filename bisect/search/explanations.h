#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bisect/search/fit.h"

namespace torchwatch::bisect {

/// An explanation of the readings: no rise of the level, some rises, or a gradual one of many
/// commits.
struct Explanation {
  std::vector<Rise> rises;  ///< without the known rises
  double prior = 0;
  double weight = 0;  ///< probability after the readings; all explanations sum to 1
  Fit fit;            ///< under the likeliest ratios; parameters of known rises come first

  bool is_gradual() const { return rises.size() == 1 && rises[0].last > rises[0].gap; }
};

/// The plausible explanations of some readings, each with its weight.
struct Explanations {
  std::vector<Explanation> all;
  Ratios ratios;              ///< the likeliest
  double builds = 0;          ///< expected variance of builds, relative to that of a reading
  double noise = 0;           ///< standard deviation of a reading, in the best explanation
  std::vector<int> outliers;  ///< number of outliers at each position, in the best explanation
};

/// Returns the explanations with their prior weights, before any reading. `shares` is the share of
/// the prior in each gap.
std::vector<Explanation> expect(std::span<double const> shares, Expectation const& expectation);

/// Returns the explanations with their weights after the readings. `known` lists gaps that hold a
/// known change. The table has at least one value. The number of explanations that are fitted is
/// bounded for any number of positions: of several changes, and of gradual ones, only those that a
/// Glance rates highly.
Explanations explain(Measured const& table,
                     std::span<double const> shares,
                     std::span<std::size_t const> known,
                     Expectation const& expectation);

}  // namespace torchwatch::bisect
