#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace torchwatch::bench {

/// A series over years, with one value per night and its true changes.
struct History {
  std::vector<double> values;        ///< logarithms; missed nights are left out
  std::vector<std::size_t> changes;  ///< index of the first value of each new level
};

/// A kind of history, which makes one from a seed.
struct Life {
  std::string name;
  std::function<History(std::uint64_t seed)> make;
};

/// Kinds of history with 2% noise per night. `changing_lives`: single steps of 3, 7 and 20%,
/// stairs, a change and its revert, outliers, missed nights, heavy tails, a wandering host.
/// `flat_lives`: no changes.
std::vector<Life> changing_lives();
std::vector<Life> flat_lives(std::size_t nights);

}  // namespace torchwatch::bench
