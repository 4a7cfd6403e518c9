#pragma once

#include <span>
#include <vector>

namespace torchwatch::bisect {

struct Pair;

/// What a series' own past says of a metric that should repeat exactly: how many processes stood
/// beside an earlier one of the same build, on the same night, and gave its value or another one.
struct Repeats {
  int agreed = 0;
  int disagreed = 0;
};

/// Counts them: a list of pairs a night, all of the same two builds. Pure.
Repeats repeats_in(std::span<std::vector<Pair> const> nights);

}  // namespace torchwatch::bisect
