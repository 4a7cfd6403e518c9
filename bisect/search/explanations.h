#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bisect/search/fit.h"

namespace torchwatch::bisect {

/// What may have happened: rises of the level, none or several, or one that many commits made.
struct Explanation {
  std::vector<Rise> rises;  ///< the known ones left out
  double prior = 0;
  double weight = 0;  ///< after the readings; of all together 1
  Fit fit;            ///< under the likeliest ratios; parameters of known rises come before others

  bool is_gradual() const { return rises.size() == 1 && rises[0].last > rises[0].gap; }
};

/// The explanations of some readings that are worth a thought, each with its weight.
struct Explanations {
  std::vector<Explanation> all;
  Ratios ratios;      ///< the likeliest
  double builds = 0;  ///< expected ratio
  double noise = 0;   ///< of the best explanation under the likeliest ratios: standard deviation
  std::vector<int> outliers;  ///< readings of each position that are outliers, as the best says
};

/// Without readings. `shares`: of the prior in each gap.
std::vector<Explanation> expect(std::span<double const> shares, Expectation const& expectation);

/// `known`: gaps that hold a known change. The table has a value. How many explanations are fitted
/// is bounded, whatever the number of positions: of several changes and of gradual ones only those
/// that a glance finds good.
Explanations explain(Measured const& table,
                     std::span<double const> shares,
                     std::span<std::size_t const> known,
                     Expectation const& expectation);

}  // namespace torchwatch::bisect
