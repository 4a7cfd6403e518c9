#pragma once

#include <cstddef>
#include <map>

namespace torchwatch::bisect {

/// Probability that the build at `position` can be made, from what is known of others: `tried` says
/// of some positions whether they could. Builds break and are repaired, so their commits come in
/// spans: a chain of two states whose memory fades over a few commits.
double chance_to_build(std::map<std::size_t, bool> const& tried, std::size_t position);

}  // namespace torchwatch::bisect
