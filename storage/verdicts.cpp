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
                    std::string const& table,
                    NightlyId nightly,
                    SeriesChange const& change) {
  auto const& [series, comparison, muted] = change;
  auto const& ratio = comparison.ratio;
  SQLite::Statement insert{
      database,
      "INSERT OR IGNORE INTO " + table +
          " (nightly_id, fleet, benchmark, metric, verdict, before, after, ratio, low, high, "
          "error_bound, pairs, muted) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
  bind_all(insert,
           nightly.value,
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
                                          std::string const& table,
                                          NightlyId nightly,
                                          std::string const& condition) {
  SQLite::Statement query{database,
                          "SELECT fleet, benchmark, metric, verdict, before, after, ratio, low, "
                          "high, error_bound, pairs, muted FROM " +
                              table + " WHERE nightly_id = ? AND " + condition +
                              " ORDER BY fleet, benchmark, metric"};
  bind_all(query, nightly.value);
  return read_all(query, read_change);
}

}  // namespace torchwatch::storage
