#pragma once

#include <span>
#include <vector>

#include "bisect/commit_changes.h"
#include "storage/domain/benchmark.h"

namespace torchwatch::bisect {

/// Weights of commits of PyTorch before anything is read, as `Inquiry` takes them, by what they
/// touched: 1 for what LibTorch computes with and how it is compiled; 1/20 for what hardly reaches
/// a benchmark of `series` (documents, tests, CI, Python, kernels of other devices); between for
/// what the table in prior.cpp does not know. A commit weighs what the heaviest of its files and
/// submodules does, on the device where that is most; one that touched nothing weighs 1/20. None
/// weighs 0, so readings can overcome all of it. Pure.
std::vector<double> prior_by_paths(std::span<CommitChanges const> changes,
                                   std::span<Series const> series);

}  // namespace torchwatch::bisect
