#pragma once

#include <map>
#include <vector>

#include "bisect/compare/compare.h"
#include "storage/domain/benchmark.h"
#include "storage/domain/job.h"

namespace torchwatch::measure {

/// Measurements of two builds side by side, by series: one pair per round.
using SeriesPairs = std::map<Series, std::vector<bisect::Pair>>;

/// Returns the pairs of the first `rounds` rounds of a campaign that compared two commits. Leaves
/// out rounds in which a process has no result. Pure.
SeriesPairs pairs_of(std::vector<JobOutcome> jobs, CommitSha const& before, int rounds);

/// The commits that the series of a nightly are compared with.
struct BaselineCommits {
  CommitSha usual;
  std::map<Series, CommitSha> own{};  ///< for some series, instead of `usual`
};

/// Returns the pairs of the first `rounds` rounds of the campaign of `nightly`, each series with
/// its baseline. A series whose baseline has the commit of the nightly has no pairs. Pure.
SeriesPairs pairs_of(std::vector<JobOutcome> jobs,
                     CommitSha const& nightly,
                     BaselineCommits const& baselines,
                     int rounds);

/// Returns the pairs of all rounds of two builds. Pure.
SeriesPairs pairs_of(std::vector<JobOutcome> before, std::vector<JobOutcome> after);

}  // namespace torchwatch::measure
