#include "storage/incidents.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include "storage/rows.h"

namespace torchwatch::storage {
namespace {

constexpr auto select = "SELECT id, baseline_id, nightly_id, report, opened_at FROM incident ";

/// Two tables of one form: of nightlies against their baselines, and of builds against themselves.
constexpr auto of_nightlies = "comparison";
constexpr auto of_builds_against_themselves = "aa_comparison";

std::string select_verdicts(std::string const& table) {
  return "SELECT fleet, benchmark, metric, verdict, before, after, ratio, low, high, error_bound, "
         "pairs, muted FROM " +
         table + " ";
}

SeriesChange read_change(SQLite::Statement& row) {
  return SeriesChange{Series{row.getColumn(0).getString(),
                             read_word(row.getColumn(1), parse_benchmark),
                             read_word(row.getColumn(2), parse_metric)},
                      read_comparison(row, 3),
                      row.getColumn(11).getInt() != 0};
}

Incident read(SQLite::Database& database, SQLite::Statement& row) {
  Incident incident;
  incident.id.value = row.getColumn(0).getInt64();
  incident.baseline.value = row.getColumn(1).getInt64();
  incident.nightly.value = row.getColumn(2).getInt64();
  incident.report = row.getColumn(3).getString();
  incident.opened_at = read_time(row.getColumn(4));
  SQLite::Statement query{database,
                          select_verdicts(of_nightlies) +
                              "WHERE nightly_id = ? AND verdict = 'regression' AND NOT muted "
                              "ORDER BY fleet, benchmark, metric"};
  bind_all(query, incident.nightly.value);
  incident.changes = read_all(query, read_change);
  return incident;
}

void insert(SQLite::Database& database,
            char const* table,
            NightlyId nightly,
            SeriesChange const& change) {
  auto const& [series, comparison, muted] = change;
  auto const& ratio = comparison.ratio;
  SQLite::Statement insert{
      database,
      std::string{"INSERT OR IGNORE INTO "} + table +
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

std::vector<SeriesChange> verdicts_in(SQLite::Database& database,
                                      char const* table,
                                      NightlyId nightly) {
  SQLite::Statement query{
      database, select_verdicts(table) + "WHERE nightly_id = ? ORDER BY fleet, benchmark, metric"};
  bind_all(query, nightly.value);
  return read_all(query, read_change);
}

}  // namespace

void Incidents::record(NightlyId nightly, SeriesChange const& change) {
  insert(database_, of_nightlies, nightly, change);
}

std::vector<SeriesChange> Incidents::verdicts(NightlyId nightly) const {
  return verdicts_in(database_, of_nightlies, nightly);
}

void Incidents::record_aa(NightlyId nightly, SeriesChange const& change) {
  insert(database_, of_builds_against_themselves, nightly, change);
}

std::vector<SeriesChange> Incidents::aa_verdicts(NightlyId nightly) const {
  return verdicts_in(database_, of_builds_against_themselves, nightly);
}

AaTally Incidents::aa_tally() const {
  SQLite::Statement query{
      database_,
      "SELECT count(*), count(*) FILTER (WHERE verdict IN ('regression', 'improvement')) "
      "FROM aa_comparison"};
  query.executeStep();
  return {query.getColumn(0).getInt64(), query.getColumn(1).getInt64()};
}

Incident Incidents::open(NightlyId baseline, NightlyId nightly, Timestamp now) {
  SQLite::Statement insert{
      database_,
      "INSERT OR IGNORE INTO incident (baseline_id, nightly_id, opened_at) VALUES (?, ?, ?)"};
  bind_all(insert, baseline.value, nightly.value, seconds_of(now));
  insert.exec();
  return of_nightly(nightly).value();
}

std::vector<Incident> Incidents::all() const {
  SQLite::Statement query{database_, std::string{select} + "ORDER BY id DESC"};
  return read_all(query, [this](SQLite::Statement& row) { return read(database_, row); });
}

std::optional<Incident> Incidents::find(IncidentId id) const {
  SQLite::Statement query{database_, std::string{select} + "WHERE id = ?"};
  bind_all(query, id.value);
  return read_one(query, [this](SQLite::Statement& row) { return read(database_, row); });
}

std::optional<Incident> Incidents::of_nightly(NightlyId nightly) const {
  SQLite::Statement query{database_, std::string{select} + "WHERE nightly_id = ?"};
  bind_all(query, nightly.value);
  return read_one(query, [this](SQLite::Statement& row) { return read(database_, row); });
}

void Incidents::intend_report(IncidentId id, std::string const& key) {
  SQLite::Statement update{database_, "UPDATE incident SET report_key = ? WHERE id = ?"};
  bind_all(update, key, id.value);
  update.exec();
}

void Incidents::reported(IncidentId id, std::string const& place) {
  SQLite::Statement update{database_, "UPDATE incident SET report = ? WHERE id = ?"};
  bind_all(update, place, id.value);
  update.exec();
}

}  // namespace torchwatch::storage
