#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "config/options.h"
#include "daemon/measure/comparison.h"
#include "daemon/measure/pairs.h"
#include "storage/base/ids.h"

namespace torchwatch::nightly {

/// What a sweep leaves to be decided.
struct Screening {
  std::vector<measure::SeriesGroup> suspicious;
  std::vector<measure::SeriesGroup> all;  ///< that were measured
  measure::Past past;                     ///< of these
};

/// Which series of a sweep may have grown, fleet by fleet, given what their noise was on the nights
/// before. Pure.
Screening screen_sweep(measure::SeriesPairs const& sweep,
                       std::vector<measure::SeriesPairs> const& past,
                       std::vector<config::FleetOptions> const& fleets,
                       config::DecideOptions const& options);

/// `count` of each fleet's groups; over the nights everybody's turn comes. Pure.
std::vector<measure::SeriesGroup> sample_of(std::vector<measure::SeriesGroup> const& all,
                                            NightlyId night,
                                            int count);

std::size_t count_series(std::span<measure::SeriesGroup const> groups);

}  // namespace torchwatch::nightly
