#pragma once

#include <map>
#include <vector>

#include "bisect/compare/compare.h"
#include "storage/domain/benchmark.h"
#include "storage/domain/job.h"

namespace torchwatch::measure {

/// What was measured of two builds side by side, by series: a pair a round.
using SeriesPairs = std::map<Series, std::vector<bisect::Pair>>;

/// Of the first `rounds` rounds of a campaign that compared two commits. Rounds of which one
/// process gave nothing are left out. Pure.
SeriesPairs pairs_of(std::vector<JobOutcome> jobs, CommitSha const& before, int rounds);

/// The commits that the series of a nightly are compared with.
struct BaselineCommits {
  CommitSha usual;
  std::map<Series, CommitSha> own{};  ///< of some series, instead of `usual`
};

/// Of the first `rounds` rounds of the campaign of `nightly`, each series next to its baseline. A
/// series whose baseline has the commit of the nightly has no pairs. Pure.
SeriesPairs pairs_of(std::vector<JobOutcome> jobs,
                     CommitSha const& nightly,
                     BaselineCommits const& baselines,
                     int rounds);

/// Of two builds, all rounds of each. Pure.
SeriesPairs pairs_of(std::vector<JobOutcome> before, std::vector<JobOutcome> after);

}  // namespace torchwatch::measure
