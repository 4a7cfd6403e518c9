#pragma once

#include <span>
#include <vector>

#include "bisect/compare.h"
#include "config/options.h"
#include "storage/domain/benchmark.h"

namespace torchwatch::bisect {

/// What a sweep measured of one series: both builds, a pair a round.
struct Swept {
  Metric metric = Metric::latency;
  std::vector<Pair> pairs;
};

/// The cheap filter between sweep and comparison: for each series of one fleet, whether it may have
/// grown by more than its tolerance. It may when the mean change plus two standard errors is above.
/// So a quiet fleet confirms little, and a noisy one more instead of missing more.
///
/// A few pairs say little about their own noise; the noise that is usual among the series of the
/// same metric counts for as much as four further pairs would. Where nothing is known of the noise,
/// everything may have grown.
///
/// Pure. What passes is decided by Compare, from these pairs on.
std::vector<bool> may_have_grown(std::span<Swept const> sweep,
                                 config::DecideOptions const& options);

}  // namespace torchwatch::bisect
