#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace torchwatch::lab {

/// Randomness that is the same everywhere: the standard fixes the engine's numbers but not its
/// distributions'.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  /// A number in [0, bound). `bound` is not zero.
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
