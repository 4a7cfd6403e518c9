#include "storage/verdicts.h"

#include "storage/database.h"
#include "storage/rows.h"

namespace torchwatch::storage {
namespace {

constexpr auto columns =
    "fleet, benchmark, metric, verdict, before, after, ratio, low, high, error_bound, pairs, muted";

/// Reads `columns` from `first`.
SeriesChange read_change(SQLite::Statement& row, int first) {
  return SeriesChange{read_series(row, first),
                      read_comparison(row, first + 3),
                      row.getColumn(first + 11).getInt() != 0};
}

/// Reads the owner and `columns`.
NightlyVerdict read_nightly_verdict(SQLite::Statement& row) {
  return NightlyVerdict{NightlyId{row.getColumn(0).getInt64()}, read_change(row, 1)};
}

}  // namespace

void insert_verdict(Database& database,
                    VerdictTable const& table,
                    std::int64_t owner,
                    SeriesChange const& change) {
  Statement insert{database,
                   std::string{"INSERT OR IGNORE INTO "} + table.name + " (" + table.owner + ", " +
                       columns + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
  bind_all(insert, owner, change.series, change.comparison, change.muted ? 1 : 0);
  insert.exec();
}

std::vector<SeriesChange> select_verdicts(Database& database,
                                          VerdictTable const& table,
                                          std::int64_t owner,
                                          std::string const& condition) {
  Statement query{database,
                  std::string{"SELECT "} + columns + " FROM " + table.name + " WHERE " +
                      table.owner + " = ? AND " + condition + " ORDER BY fleet, benchmark, metric"};
  bind_all(query, owner);
  return read_all(query, [](SQLite::Statement& row) { return read_change(row, 0); });
}

std::vector<NightlyVerdict> select_verdicts_of(Database& database,
                                               VerdictTable const& table,
                                               FleetBenchmark const& which) {
  Statement query{database,
                  std::string{"SELECT "} + table.owner + ", " + columns + " FROM " + table.name +
                      " WHERE fleet = ? AND benchmark = ? ORDER BY " + table.owner + ", metric"};
  bind_all(query, which.fleet, name_of(which.benchmark));
  return read_all(query, read_nightly_verdict);
}

std::vector<NightlyVerdict> select_newest_verdicts(Database& database,
                                                   VerdictTable const& table,
                                                   int nightlies) {
  Statement query{
      database,
      std::string{"SELECT "} + table.owner + ", " + columns +
          " FROM (SELECT id, date FROM nightly ORDER BY date DESC, id DESC LIMIT ?) AS newest "
          "CROSS JOIN " +
          table.name + " ON " + table.owner +
          " = newest.id ORDER BY newest.date, newest.id, fleet, benchmark, metric"};
  bind_all(query, nightlies);
  return read_all(query, read_nightly_verdict);
}

std::vector<NightlyVerdict> select_last_changes(Database& database, VerdictTable const& table) {
  // SQLite takes the other columns from the row with the maximum.
  Statement query{database,
                  std::string{"SELECT max("} + table.owner + "), " + columns + " FROM " +
                      table.name + " WHERE verdict IN ('regression', 'improvement') " +
                      "GROUP BY fleet, benchmark, metric"};
  return read_all(query, read_nightly_verdict);
}

}  // namespace torchwatch::storage
