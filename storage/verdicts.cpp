#include "storage/verdicts.h"

#include <optional>

#include "storage/rows.h"

namespace torchwatch::storage {
namespace {

SeriesChange read_change(SQLite::Statement& row) {
  return SeriesChange{Series{row.getColumn(0).getString(),
                             read_word(row.getColumn(1), parse_benchmark),
                             read_word(row.getColumn(2), parse_metric)},
                      read_comparison(row, 3),
                      row.getColumn(11).getInt() != 0};
}

}  // namespace

void insert_verdict(SQLite::Database& database,
                    VerdictTable const& table,
                    std::int64_t owner,
                    SeriesChange const& change) {
  auto const& [series, comparison, muted] = change;
  auto const& ratio = comparison.ratio;
  SQLite::Statement insert{
      database,
      std::string{"INSERT OR IGNORE INTO "} + table.name + " (" + table.owner +
          ", fleet, benchmark, metric, verdict, before, after, ratio, low, high, "
          "error_bound, pairs, muted) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
  bind_all(insert,
           owner,
           series.fleet,
           name_of(series.benchmark),
           std::string{to_string(series.metric)},
           std::string{to_string(comparison.verdict)},
           comparison.before,
           comparison.after,
           ratio ? std::optional{ratio->ratio} : std::nullopt,
           ratio ? std::optional{ratio->low} : std::nullopt,
           ratio ? std::optional{ratio->high} : std::nullopt,
           comparison.error_bound,
           comparison.pairs,
           muted ? 1 : 0);
  insert.exec();
}

std::vector<SeriesChange> select_verdicts(SQLite::Database& database,
                                          VerdictTable const& table,
                                          std::int64_t owner,
                                          std::string const& condition) {
  SQLite::Statement query{
      database,
      std::string{"SELECT fleet, benchmark, metric, verdict, before, after, ratio, low, high, "
                  "error_bound, pairs, muted FROM "} +
          table.name + " WHERE " + table.owner + " = ? AND " + condition +
          " ORDER BY fleet, benchmark, metric"};
  bind_all(query, owner);
  return read_all(query, read_change);
}

}  // namespace torchwatch::storage
