#include "storage/bisections.h"

#include <string>
#include <tuple>

#include <nlohmann/json.hpp>

#include "storage/bisection_rows.h"
#include "storage/database.h"
#include "storage/rows.h"

namespace torchwatch::storage {
namespace {

constexpr auto select_bisections =
    "SELECT id, incident_id, start_sha, end_sha, threshold, direction, state, outcome, failure, "
    "asked_at, prior, recipe_id, package_differences, base_sha, missing_commits, added_commits, "
    "outer_id, merge_sha, merged_commits "
    "FROM bisection ";

std::vector<Series> select_series(Database& database, BisectionId id) {
  Statement query{database,
                  "SELECT fleet, benchmark, metric FROM bisection_series "
                  "WHERE bisection_id = ? ORDER BY ordinal"};
  bind_all(query, id.value);
  return read_all(query, [](SQLite::Statement& row) { return read_series(row, 0); });
}

Bisection read_row(SQLite::Statement& row) {
  Bisection bisection;
  bisection.id.value = row.getColumn(0).getInt64();
  if (!row.getColumn(1).isNull()) bisection.incident = IncidentId{row.getColumn(1).getInt64()};
  bisection.request.start.hex = row.getColumn(2).getString();
  bisection.request.end.hex = row.getColumn(3).getString();
  bisection.request.threshold = row.getColumn(4).getDouble();
  bisection.request.direction = read_word(row.getColumn(5), parse_direction);
  bisection.state = read_word(row.getColumn(6), parse_bisection_state);
  if (!row.getColumn(7).isNull())
    bisection.outcome = read_word(row.getColumn(7), parse_bisection_outcome);
  bisection.failure = row.getColumn(8).getString();
  bisection.asked_at = read_time(row.getColumn(9));
  bisection.request.prior = read_word(row.getColumn(10), parse_prior);
  bisection.recipe.value = row.getColumn(11).getInt64();
  if (!row.getColumn(13).isNull())
    bisection.ancestry = Ancestry{CommitSha{row.getColumn(13).getString()},
                                  row.getColumn(14).getInt(),
                                  row.getColumn(15).getInt()};
  if (!row.getColumn(16).isNull())
    bisection.inside = SearchedMerge{BisectionId{row.getColumn(16).getInt64()},
                                     CommitSha{row.getColumn(17).getString()},
                                     row.getColumn(18).getInt()};
  return bisection;
}

/// Reads a bisection without its steps. `row` stays open on it meanwhile, so the other tables are
/// read from the same snapshot.
Bisection read_in_brief(Database& database, SQLite::Statement& row) {
  auto bisection = read_row(row);
  bisection.request.series = select_series(database, bisection.id);
  bisection.findings = select_findings(database, bisection.id);
  if (auto const differences = row.getColumn(12); !differences.isNull())
    bisection.packages = select_packages(database, bisection.id, differences.getString());
  return bisection;
}

Bisection read_bisection(Database& database, SQLite::Statement& row) {
  auto bisection = read_in_brief(database, row);
  bisection.steps = select_steps(database, bisection.id);
  return bisection;
}

void insert_series(Database& database, BisectionId id, std::vector<Series> const& all) {
  int ordinal = 0;
  for (auto const& series : all) {
    Statement insert{
        database,
        "INSERT INTO bisection_series (bisection_id, ordinal, fleet, benchmark, metric) "
        "VALUES (?, ?, ?, ?, ?)"};
    bind_all(insert, id.value, ordinal++, series);
    insert.exec();
  }
}

/// Inserts a queued bisection and sets its id. Call it within a transaction.
void insert_queued(Database& database, Bisection& bisection) {
  Statement insert{
      database,
      "INSERT INTO bisection (incident_id, start_sha, end_sha, threshold, direction, prior, "
      "state, asked_at, outer_id, merge_sha, merged_commits) "
      "VALUES (?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?)"};
  auto const& [incident, request, inside] =
      std::tie(bisection.incident, bisection.request, bisection.inside);
  bind_all(insert,
           incident ? std::optional{incident->value} : std::nullopt,
           request.start.hex,
           request.end.hex,
           request.threshold,
           std::string{to_string(request.direction)},
           std::string{to_string(request.prior)},
           seconds_of(bisection.asked_at),
           inside ? std::optional{inside->outer.value} : std::nullopt,
           inside ? std::optional{inside->merge.hex} : std::nullopt,
           inside ? inside->merged : 0);
  insert.exec();
  bisection.id.value = database.getLastInsertRowid();
  insert_series(database, bisection.id, request.series);
}

}  // namespace

Bisection Bisections::ask(BisectionRequest const& request,
                          std::optional<IncidentId> incident,
                          Timestamp now) {
  SQLite::Transaction transaction{database_, SQLite::TransactionBehavior::IMMEDIATE};
  Bisection bisection;
  bisection.incident = incident;
  bisection.request = request;
  bisection.asked_at = now;
  insert_queued(database_, bisection);
  transaction.commit();
  return bisection;
}

std::vector<Bisection> Bisections::all_in_brief() const {
  Statement query{database_, std::string{select_bisections} + "ORDER BY id DESC"};
  return read_all(query, [this](SQLite::Statement& row) { return read_in_brief(database_, row); });
}

StepTally Bisections::count_steps(BisectionId id) const {
  return select_tally(database_, id);
}

std::optional<Bisection> Bisections::find(BisectionId id) const {
  Statement query{database_, std::string{select_bisections} + "WHERE id = ?"};
  bind_all(query, id.value);
  return read_one(query, [this](SQLite::Statement& row) { return read_bisection(database_, row); });
}

std::vector<Bisection> Bisections::of_incident(IncidentId incident) const {
  Statement query{database_, std::string{select_bisections} + "WHERE incident_id = ? ORDER BY id"};
  bind_all(query, incident.value);
  return read_all(query, [this](SQLite::Statement& row) { return read_bisection(database_, row); });
}

std::vector<Bisection> Bisections::of_incident_in_brief(IncidentId incident) const {
  Statement query{database_, std::string{select_bisections} + "WHERE incident_id = ? ORDER BY id"};
  bind_all(query, incident.value);
  return read_all(query, [this](SQLite::Statement& row) { return read_in_brief(database_, row); });
}

std::vector<ProvedTwice> Bisections::proved_twice(int count) const {
  Statement query{
      database_,
      "WITH proof AS (SELECT bisection_id, finding, fleet, benchmark, metric, MIN(ordinal) "
      "FROM bisection_effect WHERE rebuilt_verdict IS NOT NULL AND metric = ? "
      "GROUP BY bisection_id, finding, fleet), "
      "newest AS (SELECT *, ROW_NUMBER() OVER "
      "(PARTITION BY fleet ORDER BY bisection_id DESC, finding) AS place FROM proof) "
      "SELECT bisection.id, recipe_id, commit_sha, fleet, benchmark, metric FROM newest "
      "JOIN bisection ON bisection.id = newest.bisection_id "
      "JOIN bisection_suspect USING (bisection_id, finding) "
      "WHERE bisection_suspect.ordinal = 0 AND place <= ? "
      "ORDER BY bisection.id DESC, finding, fleet"};
  bind_all(query, std::string{to_string(Metric::latency)}, count);
  return read_all(query, [](SQLite::Statement& row) {
    return ProvedTwice{{row.getColumn(0).getInt64()},
                       {row.getColumn(1).getInt64()},
                       {row.getColumn(2).getString()},
                       read_series(row, 3)};
  });
}

std::vector<Bisection> Bisections::unfinished() const {
  Statement query{
      database_,
      std::string{select_bisections} + "WHERE state IN ('queued', 'running') ORDER BY id"};
  return read_all(query, [this](SQLite::Statement& row) { return read_bisection(database_, row); });
}

std::vector<Bisection> Bisections::not_ended() const {
  Statement query{database_,
                  std::string{select_bisections} +
                      "WHERE state IN ('queued', 'running', 'paused') ORDER BY id DESC"};
  return read_all(query, [this](SQLite::Statement& row) { return read_bisection(database_, row); });
}

std::vector<BisectionId> Bisections::unfinished_or_since(Timestamp since) const {
  Statement query{database_,
                  "SELECT id FROM bisection "
                  "WHERE state IN ('queued', 'running', 'paused') OR asked_at >= ?"};
  bind_all(query, seconds_of(since));
  return read_all(query,
                  [](SQLite::Statement& row) { return BisectionId{row.getColumn(0).getInt64()}; });
}

std::vector<Bisection> Bisections::unreported(IncidentId incident) const {
  Statement query{database_,
                  std::string{select_bisections} +
                      "WHERE incident_id = ? AND event_id IS NULL "
                      "AND state IN ('done', 'failed', 'cancelled') ORDER BY id"};
  bind_all(query, incident.value);
  return read_all(query, [this](SQLite::Statement& row) { return read_in_brief(database_, row); });
}

void Bisections::keep_commits(BisectionId id,
                              std::vector<Commit> const& commits,
                              std::optional<Ancestry> const& ancestry) {
  SQLite::Transaction transaction{database_, SQLite::TransactionBehavior::IMMEDIATE};
  write_commits(database_, id, commits);
  Statement update{
      database_,
      "UPDATE bisection SET base_sha = ?, missing_commits = ?, added_commits = ? WHERE id = ?"};
  bind_all(update,
           ancestry ? std::optional{ancestry->base.hex} : std::nullopt,
           ancestry ? ancestry->missing : 0,
           ancestry ? ancestry->added : 0,
           id.value);
  update.exec();
  transaction.commit();
}

std::vector<Commit> Bisections::commits_of(BisectionId id) const {
  return select_commits(database_, id);
}

void Bisections::plan(BisectionId id, std::vector<BisectionStep> const& steps) {
  SQLite::Transaction transaction{database_, SQLite::TransactionBehavior::IMMEDIATE};
  auto ordinal = static_cast<std::size_t>(select_tally(database_, id).planned);
  for (auto const& step : steps)
    write_step(database_, id, ordinal++, step);
  transaction.commit();
}

void Bisections::begin_with(BisectionId id, RecipeId recipe, BuildVariation const& variation) {
  SQLite::Transaction transaction{database_, SQLite::TransactionBehavior::IMMEDIATE};
  Statement remove{database_, "DELETE FROM bisection_step WHERE bisection_id = ?"};
  bind_all(remove, id.value);
  remove.exec();
  Statement update{database_,
                   "UPDATE bisection SET recipe_id = ?, build_variation = ? WHERE id = ?"};
  bind_all(update, recipe.value, nlohmann::json(variation).dump(), id.value);
  update.exec();
  transaction.commit();
}

std::optional<BuildVariation> Bisections::build_variation_of(BisectionId id) const {
  Statement query{
      database_,
      "SELECT build_variation FROM bisection WHERE id = ? AND build_variation IS NOT NULL"};
  bind_all(query, id.value);
  return read_one(query, [](SQLite::Statement& row) {
    return read_json(row.getColumn(0)).get<BuildVariation>();
  });
}

void Bisections::finish(BisectionId id, std::size_t ordinal, BisectionStep const& step) {
  write_step(database_, id, ordinal, step);
}

void Bisections::update(Bisection const& bisection, std::vector<Bisection> into_merges) {
  SQLite::Transaction transaction{database_, SQLite::TransactionBehavior::IMMEDIATE};
  Statement update{database_,
                   "UPDATE bisection SET state = ?, outcome = ?, failure = ? WHERE id = ?"};
  bind_all(
      update,
      std::string{to_string(bisection.state)},
      bisection.outcome ? std::optional{std::string{to_string(*bisection.outcome)}} : std::nullopt,
      bisection.failure,
      bisection.id.value);
  update.exec();
  write_findings(database_, bisection.id, bisection.findings);
  write_packages(database_, bisection.id, bisection.packages);
  for (auto& inner : into_merges)
    insert_queued(database_, inner);
  transaction.commit();
}

bool Bisections::begin(BisectionId id) {
  Statement update{database_,
                   "UPDATE bisection SET state = 'running' WHERE id = ? "
                   "AND state IN ('queued', 'running')"};
  bind_all(update, id.value);
  return update.exec() == 1;
}

bool Bisections::set_state(BisectionId id, BisectionState state) {
  Statement update{database_,
                   "UPDATE bisection SET state = ? WHERE id = ? "
                   "AND state NOT IN ('done', 'failed', 'cancelled')"};
  bind_all(update, std::string{to_string(state)}, id.value);
  return update.exec() == 1;
}

}  // namespace torchwatch::storage
