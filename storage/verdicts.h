#pragma once

/// The tables that hold comparisons, all of one form, for the tables of this folder alone.

#include <cstdint>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "storage/domain/comparison.h"

namespace torchwatch::storage {

/// A table, and the column that says whose verdicts they are.
struct VerdictTable {
  char const* name;
  char const* owner;
};

/// Of a nightly with its baseline.
inline constexpr VerdictTable against_baselines{"comparison", "nightly_id"};
/// Of a nightly with itself.
inline constexpr VerdictTable against_themselves{"aa_comparison", "nightly_id"};
/// Of a nightly with the one it is anchored to.
inline constexpr VerdictTable against_anchors{"anchored_comparison", "nightly_id"};
/// Of the nightlies at the ends of a bisection.
inline constexpr VerdictTable of_packages{"package_comparison", "bisection_id"};

/// A verdict that is known already stays.
void insert_verdict(SQLite::Database& database,
                    VerdictTable const& table,
                    std::int64_t owner,
                    SeriesChange const& change);

/// Those of `owner` for which `condition` holds, by series.
std::vector<SeriesChange> select_verdicts(SQLite::Database& database,
                                          VerdictTable const& table,
                                          std::int64_t owner,
                                          std::string const& condition = "TRUE");

/// Those on one benchmark, by nightly, of a table whose owners are nightlies.
std::vector<NightlyVerdict> select_verdicts_of(SQLite::Database& database,
                                               VerdictTable const& table,
                                               FleetBenchmark const& which);

/// Those on the last `nightlies` nightlies, in their order and by series, of a table whose owners
/// are nightlies.
std::vector<NightlyVerdict> select_newest_verdicts(SQLite::Database& database,
                                                   VerdictTable const& table,
                                                   int nightlies);

/// Of each series the newest one that found a change, of a table whose owners are nightlies.
std::vector<NightlyVerdict> select_last_changes(SQLite::Database& database,
                                                VerdictTable const& table);

}  // namespace torchwatch::storage
