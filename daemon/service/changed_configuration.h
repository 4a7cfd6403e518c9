#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "config/options.h"
#include "storage/base/result.h"
#include "storage/store.h"

namespace torchwatch::service {

/// Returns the parts of the configuration that matter for the history: one member for each key,
/// such as "decide.threshold", and "fleets", with device and benchmarks of each fleet. Pure.
nlohmann::json history_keys_of(config::Options const& options);

/// Returns the differences of two results of history_keys_of(), each with its effect on the
/// history. `fleets`: those of `after`; their earlier names are the same fleet. Pure.
std::vector<storage::ConfigurationChange> changes_between(
    nlohmann::json const& before,
    nlohmann::json const& after,
    std::vector<config::FleetOptions> const& fleets);

/// Call when the program begins to use `options`, before anything is measured. Gives the records of
/// renamed fleets (`fleets[].formerly`) their new names. Logs and stores each change since the last
/// call. Each of these is one transaction, and a repetition changes nothing. Fails with unavailable
/// when the disk fails.
Result<> adopt_configuration(storage::Store& store, config::Options const& options, Timestamp now);

}  // namespace torchwatch::service
