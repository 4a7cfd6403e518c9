#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bisect/git/commit_changes.h"
#include "storage/domain/benchmark.h"
#include "storage/domain/build.h"

namespace torchwatch::bisect {

/// Returns the prior weights of PyTorch commits, for `SearchState`, by the files they touched:
/// - 1 for the sources of LibTorch and for how it is compiled;
/// - 1/20 for files that rarely affect a benchmark of `series`: documents, tests, CI, Python,
///   kernels of other devices;
/// - a value between for files that the table in priors.cpp does not contain.
///
/// A commit has the largest weight of its files and submodules on any device of `series`. A commit
/// without files weighs 1/20. No weight is 0, so readings can overcome the prior. Pure.
std::vector<double> prior_by_paths(std::span<CommitChanges const> changes,
                                   std::span<Series const> series);

/// Returns the positions of `nightlies` among the builds of a search, ascending, each once.
/// Position 0 is `start`; position p has the first p `suspects`. Empty unless both ends and at
/// least one nightly between them are among them: otherwise nightlies do not narrow the range.
/// Pure.
std::vector<std::size_t> nightly_positions(std::span<CommitSha const> nightlies,
                                           CommitSha const& start,
                                           std::span<Commit const> suspects);

/// Returns the last commit of each interval between neighbouring `positions`. Pure.
std::vector<Commit> ends_of_nights(std::span<Commit const> suspects,
                                   std::span<std::size_t const> positions);

/// Returns all commits of the intervals that end with `nights`, in order. `nights` are some of
/// ends_of_nights(). Pure.
std::vector<Commit> commits_of_nights(std::span<Commit const> suspects,
                                      std::span<std::size_t const> positions,
                                      std::span<Commit const> nights);

/// Returns the weight of each interval between `positions`: the sum over its suspects. Pure.
std::vector<double> nightly_prior(std::span<double const> prior,
                                  std::span<std::size_t const> positions);

/// Returns the weights of suspects after the nightlies at `positions` were searched. `changed[i]`
/// is the probability that the suspects between positions i and i + 1 changed a series, summed over
/// the series. Each interval gets its share of the weight, except for a twentieth of all: nightlies
/// are packaged elsewhere, and may differ by more than their commits. The sum of `prior` is kept,
/// and no weight is zero. Pure.
std::vector<double> prior_after_nightlies(std::vector<double> prior,
                                          std::span<std::size_t const> positions,
                                          std::span<double const> changed);

}  // namespace torchwatch::bisect
