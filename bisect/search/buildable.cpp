#include "bisect/search/buildable.h"

#include <cmath>
#include <iterator>

namespace torchwatch::bisect {

namespace {

/// Share of commits that build, and how many commits a state is remembered for.
constexpr double usual = 0.97;
constexpr double memory = 8;

/// Probability of being in a state `distance` commits from one that is known.
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
  if (after != tried.end()) {  // the chain looks the same backwards
    good *= step_to(after->second, true, after->first - position);
    bad *= step_to(after->second, false, after->first - position);
  }
  return good / (good + bad);
}

}  // namespace torchwatch::bisect
