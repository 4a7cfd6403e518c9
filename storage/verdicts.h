#pragma once

/// The tables that hold comparisons, all of one form, for the tables of this folder alone.

#include <cstdint>
#include <string>
#include <vector>

#include "storage/database.h"
#include "storage/domain/comparison.h"

namespace torchwatch::storage {

/// A table of verdicts, and its column with the id of the nightly or bisection that owns them.
struct VerdictTable {
  char const* name;
  char const* owner;
};

/// Verdicts on nightlies against their baselines.
inline constexpr VerdictTable against_baselines{"comparison", "nightly_id"};
/// Verdicts of self-comparisons.
inline constexpr VerdictTable against_themselves{"aa_comparison", "nightly_id"};
/// Verdicts on nightlies against their anchors.
inline constexpr VerdictTable against_anchors{"anchored_comparison", "nightly_id"};
/// Verdicts on the published builds at the ends of bisections.
inline constexpr VerdictTable of_packages{"package_comparison", "bisection_id"};

/// Inserts a verdict. A stored verdict on the series stays.
void insert_verdict(Database& database,
                    VerdictTable const& table,
                    std::int64_t owner,
                    SeriesChange const& change);

/// Returns the verdicts of `owner` that fulfill `condition` (SQL), ordered by series.
std::vector<SeriesChange> select_verdicts(Database& database,
                                          VerdictTable const& table,
                                          std::int64_t owner,
                                          std::string const& condition = "TRUE");

/// Returns the verdicts on one benchmark, ordered by nightly. The table's owners must be nightlies.
std::vector<NightlyVerdict> select_verdicts_of(Database& database,
                                               VerdictTable const& table,
                                               FleetBenchmark const& which);

/// Returns the verdicts on the last `nightlies` nightlies, in their order and by series. The
/// table's owners must be nightlies.
std::vector<NightlyVerdict> select_newest_verdicts(Database& database,
                                                   VerdictTable const& table,
                                                   int nightlies);

/// Returns the newest verdict of each series that found a change. The table's owners must be
/// nightlies.
std::vector<NightlyVerdict> select_last_changes(Database& database, VerdictTable const& table);

}  // namespace torchwatch::storage
