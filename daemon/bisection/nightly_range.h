#pragma once

#include <vector>

#include "storage/base/result.h"
#include "storage/domain/build.h"

namespace torchwatch::bisection {

/// What lies after `start` up to and including `end` where no repository tells the commits between
/// nightlies: a suspect a nightly that has a build, with its date and version for a subject. Fails
/// with not_found when an end is no such nightly's, invalid_argument when `end` is not after
/// `start`. `nightlies` come in their order. Pure.
Result<std::vector<Commit>> nightlies_between(std::vector<Nightly> const& nightlies,
                                              CommitSha const& start,
                                              CommitSha const& end);

}  // namespace torchwatch::bisection
