#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/years/suite.h"

namespace torchwatch::years {

/// Copies the quiet model's series under the names of other models until the database has `wanted`
/// series. No store may have the database open. `rounds`: rounds of a sweep, whose processes are
/// copied. Returns the added models with their fleets. Throws std::invalid_argument when the
/// catalogue has too few models, SQLite::Exception when the disk fails.
std::vector<FleetModel> copy_series(std::filesystem::path const& database,
                                    Suite const& suite,
                                    std::size_t wanted,
                                    int rounds);

/// Adds `years` - 1 copies of the database's year, each a year older than the one before. A copy
/// has the processes that the service keeps for years: profiles, and those of incidents and proofs.
/// Its bisections are ended and its alarms cleared.
void copy_years(std::filesystem::path const& database, std::size_t years);

/// Returns the number of rows of a table.
std::size_t count_rows(std::filesystem::path const& database, std::string const& table);

/// Replaces `before` by `after` in the stored paths of builds and reports.
void move_paths(std::filesystem::path const& database,
                std::string const& before,
                std::string const& after);

}  // namespace torchwatch::years
