#include "bisect/search/buildable.h"

#include <cmath>
#include <iterator>

namespace torchwatch::bisect {

namespace {

/// Share of commits that can be built, and the number of commits over which the memory fades.
constexpr double usual = 0.97;
constexpr double memory = 8;

/// Probability of `state` at `distance` commits from one whose state is `known`.
double step_to(bool state, bool known, std::size_t distance) {
  double const faded = std::exp(-static_cast<double>(distance) / memory);
  double const share = state ? usual : 1 - usual;
  return share + (state == known ? 1 - share : -share) * faded;
}

}  // namespace

double chance_to_build(std::map<std::size_t, bool> const& tried, std::size_t position) {
  auto const after = tried.lower_bound(position);
  if (after != tried.end() && after->first == position) return after->second ? 1 : 0;
  double good = usual;
  double bad = 1 - usual;
  if (after != tried.begin()) {
    auto const& [at, state] = *std::prev(after);
    good = step_to(true, state, position - at);
    bad = step_to(false, state, position - at);
  }
  if (after != tried.end()) {  // the chain is reversible
    good *= step_to(after->second, true, after->first - position);
    bad *= step_to(after->second, false, after->first - position);
  }
  return good / (good + bad);
}

}  // namespace torchwatch::bisect
