#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/lab/dice.h"

namespace torchwatch::years {

/// Random numbers for one purpose. They depend only on the seed, the purpose and the number, so
/// draws for other purposes and the order of draws do not change them.
class Chance {
 public:
  /// `number`: distinguishes several users of one purpose, such as nights or series.
  Chance(std::uint64_t seed, std::string_view purpose, std::uint64_t number = 0);

  /// Returns a number in [0, 1).
  double uniform();

  double between(double low, double high) { return low + (high - low) * uniform(); }

  /// Returns a number whose logarithm is uniform between those of `low` and `high`.
  double log_between(double low, double high);
  /// Returns an approximately normal number: mean 0, standard deviation 1, within [-6, 6].
  double normal();

  bool happens(double probability) { return uniform() < probability; }

  /// Returns an integer in [0, bound).
  std::size_t below(std::size_t bound) { return dice_.below(bound); }

  /// Returns an integer in [least, most].
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
