#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace torchwatch::runner {

/// The two random orders of a round. Each has its own random numbers, so that the order of places
/// is independent of the order of turns.
enum class Drawn : std::uint32_t {
  places = 0,  ///< the order in which the workers of the jobs are started
  passes = 1,  ///< the order of turns, drawn again for each pass
};

/// Random orders of a few items, drawn from the seed of their round. They are uniform among all
/// orders, independent of each other, and reproducible on every host. The C++ standard defines the
/// generator and its seeding exactly (mt19937_64 [rand.predef], seed_seq [rand.util.seedseq]), but
/// not its distributions, so we draw from it ourselves. Stored seeds are replayed by this class. A
/// change would give wrong places and turns for them.
class TurnOrder {
 public:
  TurnOrder(std::uint32_t seed, Drawn what, std::size_t count);

  /// Returns the next order: each of 0 to `count` - 1 once, first in turn at the front. Valid until
  /// the next call.
  std::vector<std::size_t> const& next();

 private:
  std::size_t below(std::size_t bound);

  std::mt19937_64 random_;
  std::vector<std::size_t> order_;
};

}  // namespace torchwatch::runner
