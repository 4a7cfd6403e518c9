#include "bisect/repeats.h"

#include "bisect/compare.h"

namespace torchwatch::bisect {
namespace {

void count(Repeats& repeats, double value, double first) {
  ++(value == first ? repeats.agreed : repeats.disagreed);
}

}  // namespace

Repeats repeats_in(std::span<std::vector<Pair> const> nights) {
  Repeats repeats;
  for (auto const& pairs : nights) {
    for (auto const& pair : pairs) {
      if (&pair == &pairs.front()) continue;
      count(repeats, pair.before, pairs.front().before);
      count(repeats, pair.after, pairs.front().after);
    }
  }
  return repeats;
}

}  // namespace torchwatch::bisect
