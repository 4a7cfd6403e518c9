#pragma once

/// The tables that hold comparisons of a nightly, all of one form, for the tables of this folder
/// alone.

#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "storage/domain/comparison.h"
#include "storage/domain/ids.h"

namespace torchwatch::storage {

/// With its baseline.
inline constexpr auto against_baselines = "comparison";
/// With itself.
inline constexpr auto against_themselves = "aa_comparison";
/// With the nightly it is anchored to.
inline constexpr auto against_anchors = "anchored_comparison";

/// A verdict that is known already stays.
void insert_verdict(SQLite::Database& database,
                    std::string const& table,
                    NightlyId nightly,
                    SeriesChange const& change);

/// Those on `nightly` for which `condition` holds, by series.
std::vector<SeriesChange> select_verdicts(SQLite::Database& database,
                                          std::string const& table,
                                          NightlyId nightly,
                                          std::string const& condition = "TRUE");

}  // namespace torchwatch::storage
