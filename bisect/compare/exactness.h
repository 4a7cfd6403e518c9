#pragma once

#include <span>
#include <vector>

namespace torchwatch::bisect {

struct Pair;

/// The number of past processes that gave, and did not give, the value of an earlier process of the
/// same build on the same night: how exactly a metric repeats.
struct Exactness {
  int agreed = 0;
  int disagreed = 0;
};

/// Counts them in `nights`: the pairs of each night, all of the same two builds. Pure.
Exactness exactness_of(std::span<std::vector<Pair> const> nights);

}  // namespace torchwatch::bisect
