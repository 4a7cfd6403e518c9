#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace torchwatch::lab {

/// A random generator with equal numbers on every platform. The C++ standard specifies the numbers
/// of its engine, but not of its distributions.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  /// Returns a number in [0, bound). `bound` must not be zero.
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(engine_() % bound); }

  template <class T>
  T const& pick(std::vector<T> const& items) {
    return items[below(items.size())];
  }

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t left = items.size(); left > 1; --left) {
      std::swap(items[left - 1], items[below(left)]);
    }
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace torchwatch::lab
