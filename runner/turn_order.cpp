#include "runner/turn_order.h"

#include <numeric>
#include <utility>

namespace torchwatch::runner {
namespace {

std::mt19937_64 generator_of(std::uint32_t seed, Drawn what) {
  std::seed_seq sequence{seed, static_cast<std::uint32_t>(what)};
  return std::mt19937_64{sequence};
}

}  // namespace

TurnOrder::TurnOrder(std::uint32_t seed, Drawn what, std::size_t count)
    : random_{generator_of(seed, what)},
      order_(count) {}

/// Fisher and Yates's shuffle, from the end (Knuth, The Art of Computer Programming 2, 3.4.2 P).
std::vector<std::size_t> const& TurnOrder::next() {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  for (std::size_t left = order_.size(); left > 1; --left)
    std::swap(order_[left - 1], order_[below(left)]);
  return order_;
}

/// Returns a uniform number from 0 to `bound` - 1. Draws again while the random number is below
/// 2^64 modulo `bound`, so that the count of accepted numbers is a multiple of `bound`.
std::size_t TurnOrder::below(std::size_t bound) {
  auto const surplus = (0 - bound) % bound;
  auto number = random_();
  while (number < surplus)
    number = random_();
  return number % bound;
}

}  // namespace torchwatch::runner
