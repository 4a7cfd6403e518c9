#include "bisect/compare/exactness.h"

#include "bisect/compare/compare.h"

namespace torchwatch::bisect {
namespace {

void count(Exactness& exactness, double value, double first) {
  ++(value == first ? exactness.agreed : exactness.disagreed);
}

}  // namespace

Exactness exactness_of(std::span<std::vector<Pair> const> nights) {
  Exactness exactness;
  for (auto const& pairs : nights) {
    for (auto const& pair : pairs) {
      if (&pair == &pairs.front()) continue;
      count(exactness, pair.before, pairs.front().before);
      count(exactness, pair.after, pairs.front().after);
    }
  }
  return exactness;
}

}  // namespace torchwatch::bisect
