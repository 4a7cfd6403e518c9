#include "storage/incidents.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include "storage/bisection_rows.h"
#include "storage/rows.h"
#include "storage/verdicts.h"

namespace torchwatch::storage {
namespace {

constexpr auto select_incidents =
    "SELECT id, baseline_id, nightly_id, report, opened_at, correction FROM incident ";

/// Returns the baselines of the changed series whose baseline is later than the incident's.
std::map<Series, NightlyId> later_baselines(SQLite::Database& database, Incident const& incident) {
  SQLite::Statement query{database,
                          "SELECT comparison.fleet, comparison.benchmark, comparison.metric, "
                          "coalesce(older.baseline_id, nightly.baseline_id) AS compared "
                          "FROM comparison JOIN nightly ON nightly.id = comparison.nightly_id "
                          "LEFT JOIN series_baseline AS older "
                          "USING (nightly_id, fleet, benchmark, metric) "
                          "WHERE comparison.nightly_id = ? AND verdict = 'regression' "
                          "AND NOT muted AND compared != ?"};
  bind_all(query, incident.nightly.value, incident.baseline.value);
  std::map<Series, NightlyId> later;
  while (query.executeStep())
    later[read_series(query, 0)] = NightlyId{query.getColumn(3).getInt64()};
  return later;
}

Incident read_incident(SQLite::Database& database, SQLite::Statement& row) {
  Incident incident;
  incident.id.value = row.getColumn(0).getInt64();
  incident.baseline.value = row.getColumn(1).getInt64();
  incident.nightly.value = row.getColumn(2).getInt64();
  incident.report = row.getColumn(3).getString();
  incident.opened_at = read_time(row.getColumn(4));
  incident.correction = row.getColumn(5).getString();
  incident.changes = select_verdicts(
      database, against_baselines, incident.nightly.value, "verdict = 'regression' AND NOT muted");
  incident.later_baselines = later_baselines(database, incident);
  return incident;
}

}  // namespace

void Incidents::record(NightlyId nightly, SeriesChange const& change) {
  insert_verdict(database_, against_baselines, nightly.value, change);
}

std::vector<SeriesChange> Incidents::verdicts(NightlyId nightly) const {
  return select_verdicts(database_, against_baselines, nightly.value);
}

std::vector<NightlyVerdict> Incidents::verdicts_of(FleetBenchmark const& which) const {
  return select_verdicts_of(database_, against_baselines, which);
}

std::vector<NightlyVerdict> Incidents::last_changes() const {
  return select_last_changes(database_, against_baselines);
}

void Incidents::record_aa(NightlyId nightly, SeriesChange const& change) {
  insert_verdict(database_, against_themselves, nightly.value, change);
}

std::vector<AaMonth> Incidents::aa_months() const {
  SQLite::Statement query{
      database_,
      "SELECT substr(date, 1, 7) AS month, count(*), "
      "count(*) FILTER (WHERE verdict IN ('regression', 'improvement')) "
      "FROM aa_comparison JOIN nightly ON nightly.id = nightly_id GROUP BY month ORDER BY month"};
  return read_all(query, [](SQLite::Statement& row) {
    return AaMonth{row.getColumn(0).getString(),
                   {row.getColumn(1).getInt64(), row.getColumn(2).getInt64()}};
  });
}

std::vector<NightlyVerdict> Incidents::newest_aa(int nightlies) const {
  return select_newest_verdicts(database_, against_themselves, nightlies);
}

std::vector<VerdictCost> Incidents::costs(int nightlies) const {
  SQLite::Statement query{database_,
                          "SELECT verdict, pairs, count(*) FROM comparison WHERE nightly_id IN "
                          "(SELECT id FROM nightly ORDER BY date DESC, id DESC LIMIT ?) "
                          "GROUP BY verdict, pairs ORDER BY verdict, pairs"};
  bind_all(query, nightlies);
  return read_all(query, [](SQLite::Statement& row) {
    return VerdictCost{read_word(row.getColumn(0), parse_verdict),
                       row.getColumn(1).getInt(),
                       row.getColumn(2).getInt64()};
  });
}

Incident Incidents::open(NightlyId baseline, NightlyId nightly, Timestamp now) {
  SQLite::Statement insert{
      database_,
      "INSERT OR IGNORE INTO incident (baseline_id, nightly_id, opened_at) VALUES (?, ?, ?)"};
  bind_all(insert, baseline.value, nightly.value, seconds_of(now));
  insert.exec();
  return of_nightly(nightly).value();
}

void Incidents::correct(IncidentId id,
                        std::optional<NightlyId> joined,
                        std::string const& correction) {
  SQLite::Statement update{
      database_,
      "UPDATE incident SET edition_id = coalesce(?1, edition_id), correction = ?2, "
      "is_correction_reported = is_correction_reported AND correction = ?2 WHERE id = ?3"};
  bind_all(update, joined ? std::optional{joined->value} : std::nullopt, correction, id.value);
  update.exec();
}

std::vector<Incident> Incidents::pending_corrections() const {
  SQLite::Statement query{database_,
                          std::string{select_incidents} +
                              "WHERE correction != '' AND NOT is_correction_reported AND "
                              "report != '' ORDER BY id"};
  return read_all(query, [this](SQLite::Statement& row) { return read_incident(database_, row); });
}

void Incidents::mark_corrected(IncidentId id) {
  SQLite::Statement update{database_,
                           "UPDATE incident SET is_correction_reported = 1 WHERE id = ?"};
  bind_all(update, id.value);
  update.exec();
}

std::int64_t Incidents::count() const {
  SQLite::Statement query{database_, "SELECT count(*) FROM incident"};
  query.executeStep();
  return query.getColumn(0).getInt64();
}

std::vector<Incident> Incidents::all() const {
  SQLite::Statement query{database_, std::string{select_incidents} + "ORDER BY id DESC"};
  return read_all(query, [this](SQLite::Statement& row) { return read_incident(database_, row); });
}

std::vector<Incident> Incidents::since(Timestamp since) const {
  SQLite::Statement query{database_,
                          std::string{select_incidents} + "WHERE opened_at >= ? ORDER BY id DESC"};
  bind_all(query, seconds_of(since));
  return read_all(query, [this](SQLite::Statement& row) { return read_incident(database_, row); });
}

std::optional<Incident> Incidents::find(IncidentId id) const {
  SQLite::Statement query{database_, std::string{select_incidents} + "WHERE id = ?"};
  bind_all(query, id.value);
  return read_one(query, [this](SQLite::Statement& row) { return read_incident(database_, row); });
}

std::optional<Incident> Incidents::of_nightly(NightlyId nightly) const {
  SQLite::Statement query{
      database_, std::string{select_incidents} + "WHERE nightly_id = ?1 OR edition_id = ?1"};
  bind_all(query, nightly.value);
  return read_one(query, [this](SQLite::Statement& row) { return read_incident(database_, row); });
}

std::optional<Incident> Incidents::of_report(std::string const& key) const {
  SQLite::Statement query{database_,
                          std::string{select_incidents} + "WHERE report_key = ? LIMIT 1"};
  bind_all(query, key);
  return read_one(query, [this](SQLite::Statement& row) { return read_incident(database_, row); });
}

void Incidents::intend_report(IncidentId id, std::string const& key) {
  SQLite::Statement update{database_, "UPDATE incident SET report_key = ? WHERE id = ?"};
  bind_all(update, key, id.value);
  update.exec();
}

void Incidents::keep_report_sent(IncidentId id, std::optional<Timestamp> at) {
  SQLite::Statement update{database_, "UPDATE incident SET report_sent_at = ? WHERE id = ?"};
  auto const seconds = at ? std::optional{seconds_of(*at)} : std::nullopt;
  bind_all(update, seconds, id.value);
  update.exec();
}

std::optional<Timestamp> Incidents::report_sent_at(IncidentId id) const {
  SQLite::Statement query{
      database_, "SELECT report_sent_at FROM incident WHERE id = ? AND report_sent_at IS NOT NULL"};
  bind_all(query, id.value);
  return read_one(query, [](SQLite::Statement& row) { return read_time(row.getColumn(0)); });
}

void Incidents::pause_github(Timestamp end) {
  SQLite::Statement update{database_,
                           "INSERT INTO github_pause (id, ends_at) VALUES (1, ?) "
                           "ON CONFLICT (id) DO UPDATE SET ends_at = excluded.ends_at"};
  bind_all(update, seconds_of(end));
  update.exec();
}

Timestamp Incidents::github_pause_end() const {
  SQLite::Statement query{database_, "SELECT ends_at FROM github_pause"};
  auto const end =
      read_one(query, [](SQLite::Statement& row) { return read_time(row.getColumn(0)); });
  return end.value_or(Timestamp{});
}

void Incidents::reported(IncidentId id,
                         std::string const& place,
                         std::vector<Bisection> const& bisections) {
  SQLite::Transaction transaction{database_, SQLite::TransactionBehavior::IMMEDIATE};
  SQLite::Statement update{database_,
                           "UPDATE incident SET report = ?, report_sent_at = NULL WHERE id = ?"};
  bind_all(update, place, id.value);
  update.exec();
  for (auto const& bisection : bisections)
    if (has_ended(bisection.state)) mark_reported(database_, bisection.id);
  SQLite::Statement promise{
      database_,
      "UPDATE bisection SET is_announced_as_running = 1 WHERE incident_id = ? AND NOT is_reported"};
  bind_all(promise, id.value);
  promise.exec();
  transaction.commit();
}

}  // namespace torchwatch::storage
