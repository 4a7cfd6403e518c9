#include "storage/anchors.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include "storage/rows.h"
#include "storage/verdicts.h"

namespace torchwatch::storage {
namespace {

/// ?1: fleet, ?2: benchmark, ?3: the nightly to be anchored.
constexpr auto select_candidates = R"sql(
WITH moved (date, id) AS (
  SELECT '', 0
  UNION ALL
  SELECT date, nightly.id FROM comparison JOIN nightly ON nightly.id = nightly_id
  WHERE fleet = ?1 AND benchmark = ?2 AND verdict = 'regression'
  UNION ALL
  SELECT date, nightly.id FROM anchored_comparison JOIN nightly ON nightly.id = nightly_id
  WHERE fleet = ?1 AND benchmark = ?2 AND verdict = 'improvement'
  UNION ALL
  SELECT date, nightly.id FROM ruling JOIN nightly ON announced_at <= given_at
  WHERE kind = 'accept' AND incident_id IS NULL AND fleet IN ('', ?1) AND benchmark IN ('', ?2)
    AND state IN ('bisected', 'done')
)
SELECT id FROM nightly
WHERE state IN ('bisected', 'done')
  AND (date, id) < (SELECT date, id FROM nightly WHERE id = ?3)
  AND (date, id) >= (
    SELECT date, id FROM moved
    WHERE (date, id) < (SELECT date, id FROM nightly WHERE id = ?3)
    ORDER BY date DESC, id DESC LIMIT 1)
ORDER BY date, id
)sql";

}  // namespace

std::vector<NightlyId> Anchors::candidates(FleetBenchmark const& which, NightlyId nightly) const {
  SQLite::Statement query{database_, select_candidates};
  bind_all(query, which.fleet, name_of(which.benchmark), nightly.value);
  return read_all(query,
                  [](SQLite::Statement& row) { return NightlyId{row.getColumn(0).getInt64()}; });
}

void Anchors::choose(FleetBenchmark const& which, NightlyId nightly, NightlyId anchor) {
  SQLite::Statement insert{
      database_,
      "INSERT OR IGNORE INTO anchor (nightly_id, fleet, benchmark, anchor_id) VALUES (?, ?, ?, ?)"};
  bind_all(insert, nightly.value, which.fleet, name_of(which.benchmark), anchor.value);
  insert.exec();
}

std::optional<NightlyId> Anchors::chosen(FleetBenchmark const& which, NightlyId nightly) const {
  SQLite::Statement query{
      database_,
      "SELECT anchor_id FROM anchor WHERE nightly_id = ? AND fleet = ? AND benchmark = ?"};
  bind_all(query, nightly.value, which.fleet, name_of(which.benchmark));
  return read_one(query,
                  [](SQLite::Statement& row) { return NightlyId{row.getColumn(0).getInt64()}; });
}

void Anchors::record(NightlyId nightly, SeriesChange const& change) {
  insert_verdict(database_, against_anchors, nightly.value, change);
}

std::vector<SeriesChange> Anchors::verdicts(NightlyId nightly) const {
  return select_verdicts(database_, against_anchors, nightly.value);
}

}  // namespace torchwatch::storage
