#pragma once

#include <cstddef>
#include <map>

namespace torchwatch::bisect {

/// Returns the probability that the commit at `position` can be built. `tried` maps positions to
/// whether their builds succeeded. Builds break and are repaired, so unbuildable commits come in
/// spans. The model is a Markov chain of two states whose memory fades over a few commits.
double chance_to_build(std::map<std::size_t, bool> const& tried, std::size_t position);

}  // namespace torchwatch::bisect
