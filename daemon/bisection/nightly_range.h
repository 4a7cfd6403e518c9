#pragma once

#include <vector>

#include "storage/base/result.h"
#include "storage/domain/build.h"

namespace torchwatch::bisection {

/// Returns the suspects after `start` up to and including `end`, without a repository. Each is a
/// nightly with a build, with date and version as subject. `nightlies` are in their order. Pure.
///
/// Fails with not_found when no such nightly has the commit of an end, with invalid_argument when
/// `end` is not after `start`.
Result<std::vector<Commit>> nightlies_between(std::vector<Nightly> const& nightlies,
                                              CommitSha const& start,
                                              CommitSha const& end);

}  // namespace torchwatch::bisection
