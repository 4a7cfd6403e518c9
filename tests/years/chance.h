#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/lab/dice.h"

namespace torchwatch::years {

/// Draws for one purpose. What else is drawn does not change them, so that a longer history begins
/// with other nights, and yet a night never depends on who asked first.
class Chance {
 public:
  /// `number`: which of several draws for this purpose: a night, a series.
  Chance(std::uint64_t seed, std::string_view purpose, std::uint64_t number = 0);

  /// In [0, 1).
  double uniform();

  double between(double low, double high) { return low + (high - low) * uniform(); }

  /// All magnitudes alike.
  double log_between(double low, double high);
  /// Mean 0, standard deviation 1; never beyond 6.
  double normal();

  bool happens(double probability) { return uniform() < probability; }

  /// In [0, bound).
  std::size_t below(std::size_t bound) { return dice_.below(bound); }

  /// Both may come.
  std::size_t from_to(std::size_t least, std::size_t most) {
    return least + below(most - least + 1);
  }

  template <class List>
  auto const& pick(List const& items) {
    return items[below(std::size(items))];
  }

  template <class T>
  void shuffle(std::vector<T>& items) {
    dice_.shuffle(items);
  }

 private:
  lab::Dice dice_;
};

}  // namespace torchwatch::years
