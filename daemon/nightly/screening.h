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

/// The series of a sweep that need a comparison.
struct Screening {
  std::vector<measure::SeriesGroup> suspicious;
  std::vector<measure::SeriesGroup> all;  ///< all measured ones
  measure::Past past;                     ///< the exactness of these
};

/// Returns the series of a sweep that may have grown, fleet by fleet, given their noise on earlier
/// nightlies. Pure.
Screening screen_sweep(measure::SeriesPairs const& sweep,
                       std::vector<measure::SeriesPairs> const& past,
                       std::vector<config::FleetOptions> const& fleets,
                       config::DecideOptions const& options);

/// Returns `count` of each fleet's groups, which rotate over the nightlies. Pure.
std::vector<measure::SeriesGroup> sample_of(std::vector<measure::SeriesGroup> const& all,
                                            NightlyId night,
                                            int count);

std::size_t count_series(std::span<measure::SeriesGroup const> groups);

}  // namespace torchwatch::nightly
