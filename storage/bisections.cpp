#include "storage/bisections.h"

#include <algorithm>

#include <SQLiteCpp/SQLiteCpp.h>

#include "storage/rows.h"

namespace torchwatch::storage {
namespace {

constexpr auto select =
    "SELECT id, incident_id, start_sha, end_sha, threshold, direction, state, outcome, lead, "
    "proof_verdict, proof_before, proof_after, proof_ratio, proof_low, proof_high, "
    "proof_error_bound, proof_pairs, failure, asked_at FROM bisection ";

struct StoredSeries {
  Series series;
  bool explained = false;
};

std::vector<StoredSeries> read_series(SQLite::Database& database, BisectionId id) {
  SQLite::Statement query{database,
                          "SELECT fleet, benchmark, metric, explained FROM bisection_series "
                          "WHERE bisection_id = ? ORDER BY ordinal"};
  bind_all(query, id.value);
  return read_all(query, [](SQLite::Statement& row) {
    return StoredSeries{Series{row.getColumn(0).getString(),
                               read_word(row.getColumn(1), parse_benchmark),
                               read_word(row.getColumn(2), parse_metric)},
                        row.getColumn(3).getInt() != 0};
  });
}

std::vector<BisectionStep> read_steps(SQLite::Database& database, BisectionId id) {
  SQLite::Statement query{database,
                          "SELECT commit_sha, verdict, note FROM bisection_step "
                          "WHERE bisection_id = ? ORDER BY ordinal"};
  bind_all(query, id.value);
  return read_all(query, [](SQLite::Statement& row) {
    return BisectionStep{CommitSha{row.getColumn(0).getString()},
                         read_word(row.getColumn(1), parse_step_verdict),
                         row.getColumn(2).getString()};
  });
}

std::vector<Commit> read_suspects(SQLite::Database& database, BisectionId id) {
  SQLite::Statement query{database,
                          "SELECT commit_sha, subject, author, time, pull_request "
                          "FROM bisection_suspect WHERE bisection_id = ? ORDER BY ordinal"};
  bind_all(query, id.value);
  return read_all(query, [](SQLite::Statement& row) {
    Commit commit;
    commit.sha.hex = row.getColumn(0).getString();
    commit.subject = row.getColumn(1).getString();
    commit.author = row.getColumn(2).getString();
    commit.time = read_time(row.getColumn(3));
    if (!row.getColumn(4).isNull()) commit.pull_request = row.getColumn(4).getInt();
    return commit;
  });
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
  if (!row.getColumn(9).isNull()) bisection.proof = read_comparison(row, 9);
  bisection.failure = row.getColumn(17).getString();
  bisection.asked_at = read_time(row.getColumn(18));
  return bisection;
}

Bisection read(SQLite::Database& database, SQLite::Statement& row) {
  auto bisection = read_row(row);
  for (auto const& [series, explained] : read_series(database, bisection.id)) {
    bisection.request.series.push_back(series);
    if (explained) bisection.explained.push_back(series);
  }
  if (!row.getColumn(8).isNull())
    bisection.lead =
        bisection.request.series.at(static_cast<std::size_t>(row.getColumn(8).getInt()));
  bisection.steps = read_steps(database, bisection.id);
  bisection.suspects = read_suspects(database, bisection.id);
  return bisection;
}

std::optional<int> position_of(std::optional<Series> const& series,
                               std::vector<Series> const& all) {
  if (!series) return std::nullopt;
  return static_cast<int>(std::find(all.begin(), all.end(), *series) - all.begin());
}

void write_series(SQLite::Database& database, Bisection const& bisection) {
  int ordinal = 0;
  for (auto const& series : bisection.request.series) {
    auto const& explained = bisection.explained;
    bool const is_explained =
        std::find(explained.begin(), explained.end(), series) != explained.end();
    SQLite::Statement insert{
        database,
        "INSERT OR REPLACE INTO bisection_series "
        "(bisection_id, ordinal, fleet, benchmark, metric, explained) VALUES (?, ?, ?, ?, ?, ?)"};
    bind_all(insert,
             bisection.id.value,
             ordinal++,
             series.fleet,
             name_of(series.benchmark),
             std::string{to_string(series.metric)},
             is_explained ? 1 : 0);
    insert.exec();
  }
}

void write_suspects(SQLite::Database& database, Bisection const& bisection) {
  SQLite::Statement clear{database, "DELETE FROM bisection_suspect WHERE bisection_id = ?"};
  bind_all(clear, bisection.id.value);
  clear.exec();
  int ordinal = 0;
  for (auto const& commit : bisection.suspects) {
    SQLite::Statement insert{
        database,
        "INSERT INTO bisection_suspect "
        "(bisection_id, ordinal, commit_sha, subject, author, time, pull_request) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)"};
    bind_all(insert,
             bisection.id.value,
             ordinal++,
             commit.sha.hex,
             commit.subject,
             commit.author,
             seconds_of(commit.time),
             commit.pull_request);
    insert.exec();
  }
}

void write_proof(SQLite::Database& database, BisectionId id, Comparison const& proof) {
  SQLite::Statement update{
      database,
      "UPDATE bisection SET proof_verdict = ?, proof_before = ?, proof_after = ?, proof_ratio = ?, "
      "proof_low = ?, proof_high = ?, proof_error_bound = ?, proof_pairs = ? WHERE id = ?"};
  bind_all(update,
           std::string{to_string(proof.verdict)},
           proof.before,
           proof.after,
           proof.ratio ? std::optional{proof.ratio->ratio} : std::nullopt,
           proof.ratio ? std::optional{proof.ratio->low} : std::nullopt,
           proof.ratio ? std::optional{proof.ratio->high} : std::nullopt,
           proof.error_bound,
           proof.pairs,
           id.value);
  update.exec();
}

}  // namespace

Bisection Bisections::ask(BisectionRequest const& request,
                          std::optional<IncidentId> incident,
                          Timestamp now) {
  SQLite::Transaction transaction{database_, SQLite::TransactionBehavior::IMMEDIATE};
  SQLite::Statement insert{database_,
                           "INSERT INTO bisection (incident_id, start_sha, end_sha, threshold, "
                           "direction, state, asked_at) VALUES (?, ?, ?, ?, ?, 'queued', ?)"};
  bind_all(insert,
           incident ? std::optional{incident->value} : std::nullopt,
           request.start.hex,
           request.end.hex,
           request.threshold,
           std::string{to_string(request.direction)},
           seconds_of(now));
  insert.exec();
  Bisection bisection;
  bisection.id.value = database_.getLastInsertRowid();
  bisection.incident = incident;
  bisection.request = request;
  bisection.asked_at = now;
  write_series(database_, bisection);
  transaction.commit();
  return bisection;
}

std::vector<Bisection> Bisections::all() const {
  SQLite::Statement query{database_, std::string{select} + "ORDER BY id DESC"};
  return read_all(query, [this](SQLite::Statement& row) { return read(database_, row); });
}

std::optional<Bisection> Bisections::find(BisectionId id) const {
  SQLite::Statement query{database_, std::string{select} + "WHERE id = ?"};
  bind_all(query, id.value);
  return read_one(query, [this](SQLite::Statement& row) { return read(database_, row); });
}

std::vector<Bisection> Bisections::of_incident(IncidentId incident) const {
  SQLite::Statement query{database_, std::string{select} + "WHERE incident_id = ? ORDER BY id"};
  bind_all(query, incident.value);
  return read_all(query, [this](SQLite::Statement& row) { return read(database_, row); });
}

std::optional<Bisection> Bisections::next_asked() const {
  SQLite::Statement query{database_,
                          std::string{select} +
                              "WHERE incident_id IS NULL AND state IN ('queued', 'running') "
                              "ORDER BY id LIMIT 1"};
  return read_one(query, [this](SQLite::Statement& row) { return read(database_, row); });
}

void Bisections::add_step(BisectionId id, BisectionStep const& step) {
  SQLite::Statement insert{
      database_,
      "INSERT INTO bisection_step (bisection_id, ordinal, commit_sha, verdict, note) VALUES (?1, "
      "(SELECT count(*) FROM bisection_step WHERE bisection_id = ?1), ?2, ?3, ?4)"};
  bind_all(insert, id.value, step.commit.hex, std::string{to_string(step.verdict)}, step.note);
  insert.exec();
}

void Bisections::update(Bisection const& bisection) {
  SQLite::Transaction transaction{database_, SQLite::TransactionBehavior::IMMEDIATE};
  SQLite::Statement update{
      database_, "UPDATE bisection SET state = ?, outcome = ?, lead = ?, failure = ? WHERE id = ?"};
  bind_all(
      update,
      std::string{to_string(bisection.state)},
      bisection.outcome ? std::optional{std::string{to_string(*bisection.outcome)}} : std::nullopt,
      position_of(bisection.lead, bisection.request.series),
      bisection.failure,
      bisection.id.value);
  update.exec();
  if (bisection.proof) write_proof(database_, bisection.id, *bisection.proof);
  write_series(database_, bisection);
  write_suspects(database_, bisection);
  transaction.commit();
}

}  // namespace torchwatch::storage
