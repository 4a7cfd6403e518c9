#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace torchwatch::runner {

/// What of a round is drawn. Each has random numbers of its own: who stands where tells nothing of
/// who works when.
enum class Drawn : std::uint32_t {
  places = 0,  ///< the jobs, in the order in which their workers are started
  passes = 1,  ///< the places, in the order of their turns; again for each pass
};

/// TurnOrder of a few, drawn from the seed of their round: uniform among all orders, independent of
/// each other, and the same wherever and whenever they are drawn again. The generator and its
/// seeding are fixed by the C++ standard to the last bit (mt19937_64 [rand.predef], seed_seq
/// [rand.util.seedseq]); its distributions are not, so the drawing is our own. What was recorded is
/// replayed by this: changed, it tells wrong who was where.
class TurnOrder {
 public:
  TurnOrder(std::uint32_t seed, Drawn what, std::size_t count);

  /// The next one: each of 0 to `count` - 1 once, whoever comes first at the front. Valid until the
  /// next call.
  std::vector<std::size_t> const& next();

 private:
  std::size_t below(std::size_t bound);

  std::mt19937_64 random_;
  std::vector<std::size_t> order_;
};

}  // namespace torchwatch::runner
