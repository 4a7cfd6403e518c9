#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bisect/git/commit_changes.h"
#include "storage/domain/benchmark.h"
#include "storage/domain/build.h"

namespace torchwatch::bisect {

/// Weights of commits of PyTorch before anything is read, as `SearchState` takes them, by what they
/// touched: 1 for what LibTorch computes with and how it is compiled; 1/20 for what hardly reaches
/// a benchmark of `series` (documents, tests, CI, Python, kernels of other devices); between for
/// what the table in priors.cpp does not have. A commit weighs what the heaviest of its files and
/// submodules does, on the device where that is most; one that touched nothing weighs 1/20. None
/// weighs 0, so readings can overcome all of it. Pure.
std::vector<double> prior_by_paths(std::span<CommitChanges const> changes,
                                   std::span<Series const> series);

/// The positions of `nightlies` among the builds of a search, ascending, each once: 0 for `start`,
/// p for the one that has the first p `suspects`. Empty unless both ends are among them and at
/// least one between them: only then do nightlies narrow the range without building a commit. Pure.
std::vector<std::size_t> nightly_positions(std::span<CommitSha const> nightlies,
                                           CommitSha const& start,
                                           std::span<Commit const> suspects);

/// The last commit of each night between `positions`. Pure.
std::vector<Commit> ends_of_nights(std::span<Commit const> suspects,
                                   std::span<std::size_t const> positions);

/// All commits of `nights`, which are some of ends_of_nights(), one after the other. Pure.
std::vector<Commit> commits_of_nights(std::span<Commit const> suspects,
                                      std::span<std::size_t const> positions,
                                      std::span<Commit const> nights);

/// Weights of the nights between `positions`: the sums over their suspects. Pure.
std::vector<double> nightly_prior(std::span<double const> prior,
                                  std::span<std::size_t const> positions);

/// Weights of suspects after the nightlies at `positions` were searched: `changed[i]` is the
/// probability that what lies between positions i and i + 1 changed something, summed over the
/// series. That share of the weight goes there, except for a twentieth: a nightly is packaged
/// elsewhere, and may differ by more than its commits. Sums to what `prior` sums to; none is zero.
/// Pure.
std::vector<double> prior_after_nightlies(std::vector<double> prior,
                                          std::span<std::size_t const> positions,
                                          std::span<double const> changed);

}  // namespace torchwatch::bisect
