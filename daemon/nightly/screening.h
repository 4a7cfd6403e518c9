#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "bisect/compare.h"
#include "config/options.h"
#include "daemon/measure/comparison.h"
#include "storage/domain/build.h"
#include "storage/domain/job.h"

namespace torchwatch::nightly {

/// What a sweep leaves to be decided.
struct Screening {
  std::vector<measure::SeriesGroup> suspicious;
  std::vector<measure::SeriesGroup> all;  ///< that were measured
  measure::Past past;                     ///< of these
};

/// What was measured side by side on one night, by series: its baseline and it, a pair a round.
using NightPairs = std::map<Series, std::vector<bisect::Pair>>;

/// The pairs of a campaign's first rounds. `jobs`: of a nightly's campaign. Pure.
NightPairs pairs_of(std::vector<JobOutcome> const& jobs, CommitSha const& baseline, int rounds);

/// Which series of a sweep may have grown, fleet by fleet, given what their noise was on the nights
/// before. Pure.
Screening screen_sweep(NightPairs const& sweep,
                       std::vector<NightPairs> const& past,
                       std::vector<config::FleetOptions> const& fleets,
                       config::DecideOptions const& options);

/// `count` of each fleet's groups; over the nights everybody's turn comes. Pure.
std::vector<measure::SeriesGroup> sample_of(std::vector<measure::SeriesGroup> const& all,
                                            NightlyId night,
                                            int count);

std::size_t count_series(std::span<measure::SeriesGroup const> groups);

}  // namespace torchwatch::nightly
