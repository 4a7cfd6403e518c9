#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "storage/domain/build.h"

namespace torchwatch::bisect {

/// The positions of `nightlies` among the builds of a search, ascending, none twice: 0 for `start`,
/// p for the one that has the first p `suspects`. Empty unless both ends are among them and another
/// one between: only then do nightlies tell what no commit has to be built for. Pure.
std::vector<std::size_t> rungs(std::span<CommitSha const> nightlies,
                               CommitSha const& start,
                               std::span<Commit const> suspects);

/// The last commit of each night between rungs. Pure.
std::vector<Commit> ends_of_nights(std::span<Commit const> suspects,
                                   std::span<std::size_t const> rungs);

/// All commits of `nights`, which are some of ends_of_nights(), one after the other. Pure.
std::vector<Commit> commits_of_nights(std::span<Commit const> suspects,
                                      std::span<std::size_t const> rungs,
                                      std::span<Commit const> nights);

/// Weights of the nights between rungs: of their suspects together. Pure.
std::vector<double> nights_of(std::span<double const> prior, std::span<std::size_t const> rungs);

/// Weights of suspects after the builds at `rungs` were searched: `changed[i]` is the probability
/// that what lies between rungs i and i + 1 changed something, summed over the series. As much of
/// the weight as anything changed goes there, but for a twentieth: a nightly is packaged by others,
/// and may differ by what no commit did. Sums to what `prior` does; none is zero. Pure.
std::vector<double> weigh_by_rungs(std::vector<double> prior,
                                   std::span<std::size_t const> rungs,
                                   std::span<double const> changed);

}  // namespace torchwatch::bisect
