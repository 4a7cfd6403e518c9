#pragma once

#include <vector>

#include "config/options.h"
#include "daemon/measure/comparison.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// The times that a nightly's sweep measured of it on those of its fleets that are among `fleets`,
/// a group a benchmark.
std::vector<measure::SeriesGroup> swept(storage::Store& store,
                                        Nightly const& nightly,
                                        std::vector<config::FleetOptions> const& fleets);

}  // namespace torchwatch::nightly
