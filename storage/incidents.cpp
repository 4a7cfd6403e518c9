#include "storage/incidents.h"

#include <algorithm>

#include "storage/database.h"
#include "storage/rows.h"
#include "storage/state_paths.h"
#include "storage/verdicts.h"

namespace torchwatch::storage {
namespace {

/// Incidents that joined an earlier one are left out.
constexpr auto select_incidents =
    "SELECT id, baseline_id, nightly_id, report, opened_at, correction, state, report_key FROM "
    "incident "
    "WHERE joined_id IS NULL ";

/// The incidents of nightly ?1.
constexpr auto of_nightly_1 =
    "AND (nightly_id = ?1 OR edition_id = ?1 OR id IN "
    "(SELECT incident_id FROM incident_series WHERE nightly_id = ?1)) "
    "ORDER BY nightly_id = ?1 DESC, coalesce(edition_id = ?1, 0) DESC, id DESC";

/// Regressions of a nightly that are not muted and do not belong to an earlier incident.
constexpr auto own_regressions =
    "verdict = 'regression' AND NOT muted AND NOT EXISTS (SELECT 1 FROM incident_series AS later "
    "WHERE later.nightly_id = comparison.nightly_id AND later.fleet = comparison.fleet AND "
    "later.benchmark = comparison.benchmark AND later.metric = comparison.metric)";

constexpr auto is_not_finished = "state NOT IN ('fixed', 'accepted', 'false_alarm') ";

/// Incidents that finished but have something that no event has yet.
constexpr auto has_news =
    "NOT EXISTS (SELECT 1 FROM incident_event AS event WHERE event.incident_id = incident.id) "
    "OR (correction <> '' AND NOT is_correction_reported) "
    "OR EXISTS (SELECT 1 FROM bisection WHERE bisection.incident_id = incident.id "
    "AND event_id IS NULL AND bisection.state IN ('done', 'failed', 'cancelled')) "
    "OR EXISTS (SELECT 1 FROM incident_series AS later WHERE later.incident_id = incident.id "
    "AND NOT EXISTS (SELECT 1 FROM incident_event AS event WHERE event.incident_id = incident.id "
    "AND event.nightly_id = later.nightly_id AND event.kind IN ('series_joined', 'returned'))) "
    "OR (SELECT kind FROM ruling WHERE ruling.incident_id = incident.id ORDER BY id DESC LIMIT 1) "
    "<> CASE state WHEN 'accepted' THEN 'accept' ELSE state END";

/// Returns the regressions of later nightlies that belong to the incident.
std::vector<IncidentSeries> select_later_series(Database& database, IncidentId incident) {
  Statement query{database,
                  "SELECT nightly_id, fleet, benchmark, metric, is_return "
                  "FROM incident_series WHERE incident_id = ? "
                  "ORDER BY nightly_id, fleet, benchmark, metric"};
  bind_all(query, incident.value);
  return read_all(query, [](SQLite::Statement& row) {
    return IncidentSeries{NightlyId{row.getColumn(0).getInt64()},
                          read_series(row, 1),
                          row.getColumn(4).getInt() != 0};
  });
}

bool has_series(Incident const& incident, Series const& series) {
  return std::ranges::find(incident.changes, series, &SeriesChange::series) !=
         incident.changes.end();
}

/// Adds the verdicts that made later series join.
void add_later_changes(Database& database, Incident& incident) {
  for (auto const& later : incident.later_series) {
    if (has_series(incident, later.series)) continue;
    auto const verdicts = select_verdicts(database, against_baselines, later.nightly.value);
    auto const own = std::ranges::find(verdicts, later.series, &SeriesChange::series);
    if (own != verdicts.end()) incident.changes.push_back(*own);
  }
}

/// Returns the baselines of a nightly's regressions that are not the incident's baseline.
std::map<Series, NightlyId> other_baselines(Database& database,
                                            Incident const& incident,
                                            NightlyId nightly) {
  Statement query{database,
                  "SELECT comparison.fleet, comparison.benchmark, comparison.metric, "
                  "coalesce(older.baseline_id, nightly.baseline_id) AS compared "
                  "FROM comparison JOIN nightly ON nightly.id = comparison.nightly_id "
                  "LEFT JOIN series_baseline AS older "
                  "USING (nightly_id, fleet, benchmark, metric) "
                  "WHERE comparison.nightly_id = ? AND verdict = 'regression' "
                  "AND NOT muted AND compared != ?"};
  bind_all(query, nightly.value, incident.baseline.value);
  std::map<Series, NightlyId> others;
  while (query.executeStep())
    others[read_series(query, 0)] = NightlyId{query.getColumn(3).getInt64()};
  return others;
}

/// Returns the baselines of the changed series whose baseline is not the incident's.
std::map<Series, NightlyId> later_baselines(Database& database, Incident const& incident) {
  auto all = other_baselines(database, incident, incident.nightly);
  for (auto const& later : incident.later_series) {
    if (later.is_return) continue;
    auto const others = other_baselines(database, incident, later.nightly);
    if (auto const own = others.find(later.series); own != others.end())
      all[later.series] = own->second;
  }
  std::erase_if(all, [&](auto const& one) { return !has_series(incident, one.first); });
  return all;
}

Incident read_incident(Database& database, SQLite::Statement& row) {
  Incident incident;
  incident.id.value = row.getColumn(0).getInt64();
  incident.baseline.value = row.getColumn(1).getInt64();
  incident.nightly.value = row.getColumn(2).getInt64();
  incident.report = path_of(database, row.getColumn(3).getString());
  incident.opened_at = read_time(row.getColumn(4));
  incident.correction = row.getColumn(5).getString();
  incident.state = read_word(row.getColumn(6), parse_incident_state);
  incident.report_key = row.getColumn(7).getString();
  incident.changes =
      select_verdicts(database, against_baselines, incident.nightly.value, own_regressions);
  incident.later_series = select_later_series(database, incident.id);
  add_later_changes(database, incident);
  incident.later_baselines = later_baselines(database, incident);
  return incident;
}

constexpr auto select_recoveries =
    "SELECT fleet, benchmark, metric, nightly_id, verdict, before, after, ratio, low, high, "
    "error_bound, pairs FROM incident_recovery WHERE incident_id = ? ";

SeriesRecovery read_recovery(SQLite::Statement& row) {
  return {read_series(row, 0), NightlyId{row.getColumn(3).getInt64()}, read_comparison(row, 4)};
}

void insert_later_series(Database& database, IncidentId incident, IncidentSeries const& later) {
  Statement insert{
      database,
      "INSERT OR IGNORE INTO incident_series (nightly_id, fleet, benchmark, metric, incident_id, "
      "is_return) VALUES (?, ?, ?, ?, ?, ?)"};
  bind_all(insert, later.nightly.value, later.series, incident.value, later.is_return ? 1 : 0);
  insert.exec();
}

/// Moves the bisections of `from` whose series all belong to `to` now.
void move_bisections(Database& database, IncidentId from, IncidentId to) {
  Statement update{
      database,
      "UPDATE bisection SET incident_id = ?2 WHERE incident_id = ?1 AND NOT EXISTS "
      "(SELECT 1 FROM bisection_series AS own WHERE own.bisection_id = bisection.id "
      "AND NOT EXISTS (SELECT 1 FROM incident_series AS later WHERE later.incident_id = ?2 "
      "AND later.fleet = own.fleet AND later.benchmark = own.benchmark "
      "AND later.metric = own.metric))"};
  bind_all(update, from.value, to.value);
  update.exec();
}

/// Makes an incident without series a part of an earlier one, with the rest of its bisections.
void hide_in(Database& database, IncidentId later, IncidentId earlier) {
  for (auto const* const sql : {"UPDATE bisection SET incident_id = ? WHERE incident_id = ?",
                                "UPDATE incident SET joined_id = ? WHERE id = ?"}) {
    Statement update{database, sql};
    bind_all(update, earlier.value, later.value);
    update.exec();
  }
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
  Statement query{
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
  Statement query{database_,
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
  Statement insert{
      database_,
      "INSERT OR IGNORE INTO incident (baseline_id, nightly_id, opened_at) VALUES (?, ?, ?)"};
  bind_all(insert, baseline.value, nightly.value, seconds_of(now));
  insert.exec();
  return of_nightly(nightly).value();
}

void Incidents::correct(IncidentId id,
                        std::optional<NightlyId> joined,
                        std::string const& correction) {
  Statement update{
      database_,
      "UPDATE incident SET edition_id = coalesce(?1, edition_id), correction = ?2, "
      "is_correction_reported = is_correction_reported AND correction = ?2 WHERE id = ?3"};
  bind_all(update, joined ? std::optional{joined->value} : std::nullopt, correction, id.value);
  update.exec();
}

std::vector<Incident> Incidents::unfinished() const {
  Statement query{database_,
                  std::string{select_incidents} + "AND " + is_not_finished + "ORDER BY id DESC"};
  return read_all(query, [this](SQLite::Statement& row) { return read_incident(database_, row); });
}

std::vector<IncidentTimes> Incidents::times() const {
  Statement query{
      database_,
      "SELECT substr(date, 1, 7), opened_at, "
      "(SELECT min(at) FROM incident_event AS event WHERE event.incident_id = incident.id "
      "AND event.kind = 'explained' AND event.commit_sha <> ''), "
      "CASE incident.state WHEN 'fixed' THEN (SELECT max(at) FROM incident_event AS event "
      "WHERE event.incident_id = incident.id AND event.kind = 'fixed') END "
      "FROM incident JOIN nightly ON nightly.id = incident.nightly_id WHERE joined_id IS NULL "
      "ORDER BY date, incident.id"};
  return read_all(query, [](SQLite::Statement& row) {
    IncidentTimes times{row.getColumn(0).getString(), read_time(row.getColumn(1))};
    if (!row.getColumn(2).isNull()) times.culprit_at = read_time(row.getColumn(2));
    if (!row.getColumn(3).isNull()) times.fixed_at = read_time(row.getColumn(3));
    return times;
  });
}

std::int64_t Incidents::count() const {
  Statement query{database_, "SELECT count(*) FROM incident WHERE joined_id IS NULL"};
  query.executeStep();
  return query.getColumn(0).getInt64();
}

std::vector<Incident> Incidents::all() const {
  Statement query{database_, std::string{select_incidents} + "ORDER BY id DESC"};
  return read_all(query, [this](SQLite::Statement& row) { return read_incident(database_, row); });
}

std::optional<Incident> Incidents::find(IncidentId id) const {
  Statement query{database_, std::string{select_incidents} + "AND id = ?"};
  bind_all(query, id.value);
  return read_one(query, [this](SQLite::Statement& row) { return read_incident(database_, row); });
}

std::optional<Incident> Incidents::of_nightly(NightlyId nightly) const {
  Statement query{database_, std::string{select_incidents} + of_nightly_1 + " LIMIT 1"};
  bind_all(query, nightly.value);
  return read_one(query, [this](SQLite::Statement& row) { return read_incident(database_, row); });
}

std::vector<Incident> Incidents::all_of_nightly(NightlyId nightly) const {
  Statement query{database_, std::string{select_incidents} + of_nightly_1};
  bind_all(query, nightly.value);
  return read_all(query, [this](SQLite::Statement& row) { return read_incident(database_, row); });
}

std::vector<Incident> Incidents::changing() const {
  Statement query{database_,
                  std::string{select_incidents} + "AND (" + is_not_finished + "OR " + has_news +
                      ") ORDER BY id"};
  return read_all(query, [this](SQLite::Statement& row) { return read_incident(database_, row); });
}

void Incidents::add_series(std::vector<Addition> const& additions) {
  SQLite::Transaction transaction{database_, SQLite::TransactionBehavior::IMMEDIATE};
  for (auto const& [incident, series] : additions)
    insert_later_series(database_, incident, series);
  transaction.commit();
}

void Incidents::join(Incident const& later, IncidentId earlier, std::vector<Series> const& series) {
  SQLite::Transaction transaction{database_, SQLite::TransactionBehavior::IMMEDIATE};
  for (auto const& one : series)
    insert_later_series(database_, earlier, {later.nightly, one});
  move_bisections(database_, later.id, earlier);
  if (series.size() == later.changes.size()) hide_in(database_, later.id, earlier);
  transaction.commit();
}

void Incidents::record_recoveries(IncidentId incident,
                                  std::vector<SeriesRecovery> const& compared) {
  SQLite::Transaction transaction{database_, SQLite::TransactionBehavior::IMMEDIATE};
  for (auto const& one : compared) {
    Statement insert{
        database_,
        "INSERT OR IGNORE INTO incident_recovery (incident_id, nightly_id, fleet, benchmark, "
        "metric, verdict, before, after, ratio, low, high, error_bound, pairs) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    bind_all(insert, incident.value, one.nightly.value, one.series, one.comparison);
    insert.exec();
  }
  transaction.commit();
}

std::map<Series, IncidentId> Incidents::added_series(NightlyId nightly) const {
  Statement query{database_,
                  "SELECT fleet, benchmark, metric, incident_id FROM incident_series "
                  "WHERE nightly_id = ?"};
  bind_all(query, nightly.value);
  std::map<Series, IncidentId> added;
  while (query.executeStep())
    added[read_series(query, 0)] = IncidentId{query.getColumn(3).getInt64()};
  return added;
}

std::vector<SeriesRecovery> Incidents::compared_recoveries(IncidentId incident) const {
  Statement query{database_, std::string{select_recoveries} + "ORDER BY nightly_id"};
  bind_all(query, incident.value);
  return read_all(query, read_recovery);
}

std::vector<SeriesRecovery> Incidents::recoveries(IncidentId incident) const {
  Statement query{database_,
                  std::string{select_recoveries} +
                      "AND verdict IN ('unchanged', 'improvement') AND NOT EXISTS "
                      "(SELECT 1 FROM incident_series AS later WHERE later.incident_id = ?1 "
                      "AND later.nightly_id > incident_recovery.nightly_id "
                      "AND later.fleet = incident_recovery.fleet "
                      "AND later.benchmark = incident_recovery.benchmark "
                      "AND later.metric = incident_recovery.metric) "
                      "ORDER BY fleet, benchmark, metric, nightly_id DESC"};
  bind_all(query, incident.value);
  auto all = read_all(query, read_recovery);
  auto const older = std::ranges::unique(all, {}, &SeriesRecovery::series);
  all.erase(older.begin(), older.end());
  return all;
}

std::optional<Incident> Incidents::of_report(std::string const& key) const {
  Statement query{database_, std::string{select_incidents} + "AND report_key = ? LIMIT 1"};
  bind_all(query, key);
  return read_one(query, [this](SQLite::Statement& row) { return read_incident(database_, row); });
}

std::optional<Incident> Incidents::reported_at(std::string const& place) const {
  Statement query{database_, std::string{select_incidents} + "AND report = ? LIMIT 1"};
  bind_all(query, stored_path(database_, place));
  return read_one(query, [this](SQLite::Statement& row) { return read_incident(database_, row); });
}

std::optional<Timestamp> Incidents::newest_issue_opened_at() const {
  Statement query{database_,
                  "SELECT opened_at FROM incident WHERE report LIKE 'https://%' "
                  "ORDER BY id DESC LIMIT 1"};
  return read_one(query, [](SQLite::Statement& row) { return read_time(row.getColumn(0)); });
}

void Incidents::intend_report(IncidentId id, std::string const& key) {
  Statement update{database_, "UPDATE incident SET report_key = ? WHERE id = ?"};
  bind_all(update, key, id.value);
  update.exec();
}

void Incidents::pause_github(Timestamp end) {
  Statement update{database_,
                   "INSERT INTO github_pause (id, ends_at) VALUES (1, ?) "
                   "ON CONFLICT (id) DO UPDATE SET ends_at = excluded.ends_at"};
  bind_all(update, seconds_of(end));
  update.exec();
}

Timestamp Incidents::github_pause_end() const {
  Statement query{database_, "SELECT ends_at FROM github_pause"};
  auto const end =
      read_one(query, [](SQLite::Statement& row) { return read_time(row.getColumn(0)); });
  return end.value_or(Timestamp{});
}

void Incidents::reported(IncidentId id, std::string const& place) {
  Statement update{database_, "UPDATE incident SET report = ? WHERE id = ?"};
  bind_all(update, stored_path(database_, place), id.value);
  update.exec();
}

}  // namespace torchwatch::storage
