#pragma once

#include <span>
#include <vector>

namespace torchwatch::bisect {

struct Pair;

/// The number of past processes that agreed, and that disagreed, with the first process of the same
/// build on the same night. Shows how exactly a metric repeats.
struct Exactness {
  int agreed = 0;
  int disagreed = 0;
};

/// Counts the processes in `nights`. Each night holds pairs of the same two builds. Pure.
Exactness exactness_of(std::span<std::vector<Pair> const> nights);

}  // namespace torchwatch::bisect
