#include "storage/anchors.h"

#include "storage/database.h"
#include "storage/rows.h"
#include "storage/verdicts.h"

namespace torchwatch::storage {
void Anchors::choose(FleetBenchmark const& which, NightlyId nightly, NightlyId anchor) {
  Statement insert{
      database_,
      "INSERT OR IGNORE INTO anchor (nightly_id, fleet, benchmark, anchor_id) VALUES (?, ?, ?, ?)"};
  bind_all(insert, nightly.value, which.fleet, name_of(which.benchmark), anchor.value);
  insert.exec();
}

std::optional<NightlyId> Anchors::chosen(FleetBenchmark const& which, NightlyId nightly) const {
  Statement query{
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

std::vector<NightlyVerdict> Anchors::verdicts_of(FleetBenchmark const& which) const {
  return select_verdicts_of(database_, against_anchors, which);
}

}  // namespace torchwatch::storage
