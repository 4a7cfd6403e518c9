#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/years/suite.h"

namespace torchwatch::years {

/// Adds copies of the quiet model's series to a database that no store has open, under the names of
/// other models, until it has `wanted` series. `rounds`: of a sweep, whose processes are copied.
/// Returns the models and fleets that were added. Throws std::invalid_argument when there are not
/// as many, SQLite::Exception when the disk fails.
std::vector<FleetModel> copy_series(std::filesystem::path const& database,
                                    Suite const& suite,
                                    std::size_t wanted,
                                    int rounds);

/// Puts `years` - 1 copies of the year that a database holds before it. Of a copy's processes those
/// are there that the service would have kept: of incidents and proofs. What was open in it is not.
void copy_years(std::filesystem::path const& database, std::size_t years);

/// How many rows a table has.
std::size_t count_rows(std::filesystem::path const& database, std::string const& table);

/// Writes `after` instead of `before` where paths of the state directory are stored.
void move_paths(std::filesystem::path const& database,
                std::filesystem::path const& before,
                std::filesystem::path const& after);

}  // namespace torchwatch::years
