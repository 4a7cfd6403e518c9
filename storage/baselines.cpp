#include "storage/baselines.h"

#include "storage/database.h"
#include "storage/rows.h"

namespace torchwatch::storage {

void Baselines::choose(NightlyId nightly, std::map<Series, NightlyId> const& baselines) {
  SQLite::Transaction transaction{database_, SQLite::TransactionBehavior::IMMEDIATE};
  Statement remove{database_, "DELETE FROM series_baseline WHERE nightly_id = ?"};
  bind_all(remove, nightly.value);
  remove.exec();
  for (auto const& [series, baseline] : baselines) {
    Statement insert{
        database_,
        "INSERT INTO series_baseline (nightly_id, fleet, benchmark, metric, baseline_id) "
        "VALUES (?, ?, ?, ?, ?)"};
    bind_all(insert, nightly.value, series, baseline.value);
    insert.exec();
  }
  transaction.commit();
}

std::map<Series, NightlyId> Baselines::of(NightlyId nightly) const {
  Statement query{
      database_,
      "SELECT fleet, benchmark, metric, baseline_id FROM series_baseline WHERE nightly_id = ?"};
  bind_all(query, nightly.value);
  std::map<Series, NightlyId> baselines;
  while (query.executeStep())
    baselines[read_series(query, 0)] = NightlyId{query.getColumn(3).getInt64()};
  return baselines;
}

}  // namespace torchwatch::storage
