#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "config/options.h"
#include "daemon/measure/comparison.h"
#include "storage/domain/build.h"
#include "storage/domain/job.h"

namespace torchwatch::nightly {

/// What a sweep leaves to be decided.
struct Screening {
  std::vector<measure::SeriesGroup> suspicious;
  std::vector<measure::SeriesGroup> all;  ///< that were measured
};

/// Which series of a sweep beside `baseline` may have grown, fleet by fleet. `jobs`: of the
/// nightly's campaign. Pure.
Screening screen_sweep(std::vector<JobOutcome> const& jobs,
                       CommitSha const& baseline,
                       std::vector<config::FleetOptions> const& fleets,
                       config::DecideOptions const& options);

/// `count` of each fleet's groups; over the nights everybody's turn comes. Pure.
std::vector<measure::SeriesGroup> sample_of(std::vector<measure::SeriesGroup> const& all,
                                            NightlyId night,
                                            int count);

std::size_t count_series(std::span<measure::SeriesGroup const> groups);

}  // namespace torchwatch::nightly
