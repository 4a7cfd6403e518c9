#include "tests/e2e/stored.h"

#include <SQLiteCpp/SQLiteCpp.h>

namespace torchwatch::e2e {

namespace fs = std::filesystem;

namespace {

fs::path file_in(fs::path const& state) {
  return state / "torchwatch.sqlite";
}

/// Opens the database for reading and writing: after a kill the reader must recover the write-ahead
/// log.
SQLite::Database open(fs::path const& state) {
  constexpr int timeout_ms = 10'000;
  return SQLite::Database{file_in(state).string(), SQLite::OPEN_READWRITE, timeout_ms};
}

}  // namespace

std::set<std::string> stored_results(fs::path const& state) {
  std::set<std::string> results;
  if (!fs::exists(file_in(state))) return results;
  auto database = open(state);
  if (!database.tableExists("job")) return results;
  SQLite::Statement query{
      database,
      "SELECT campaign || ' ' || fleet || ' ' || benchmark || ' ' || commit_sha || ' ' || round || "
      "' ' || error_code || ' ' || finished_at || ' ' || (SELECT coalesce(group_concat(metric || "
      "'=' || value || samples), '') FROM result WHERE job_id = job.id) FROM job"};
  while (query.executeStep())
    results.insert(query.getColumn(0).getString());
  return results;
}

int keys_stored_twice(fs::path const& state) {
  auto database = open(state);
  return database
      .execAndGet(
          "SELECT count(*) FROM (SELECT 1 FROM job GROUP BY campaign, fleet, benchmark, "
          "commit_sha, round HAVING count(*) > 1)")
      .getInt();
}

std::map<std::string, std::set<std::string>> measured_by_version(fs::path const& state) {
  auto database = open(state);
  std::map<std::string, std::set<std::string>> measured;
  SQLite::Statement query{database,
                          "SELECT DISTINCT version, benchmark FROM job WHERE error_code = ''"};
  while (query.executeStep())
    measured[query.getColumn(0).getString()].insert(query.getColumn(1).getString());
  return measured;
}

void let_builds_age(fs::path const& state, std::chrono::seconds age) {
  auto database = open(state);
  fs::remove(file_in(state) += ".seal");  // the change is intended
  database.exec("UPDATE kept_build SET used_at = used_at - " + std::to_string(age.count()));
}

std::vector<WorkedSpan> worked_spans(fs::path const& state) {
  auto database = open(state);
  std::vector<WorkedSpan> spans;
  SQLite::Statement query{database,
                          "SELECT fleet, campaign, coalesce(accounts ->> 'gpu', -1), "
                          "accounts ->> 'began_at', accounts ->> 'ended_at' FROM job "
                          "WHERE error_code = '' ORDER BY accounts ->> 'began_at'"};
  while (query.executeStep())
    spans.push_back({query.getColumn(0).getString(),
                     query.getColumn(1).getString(),
                     static_cast<int>(query.getColumn(2).getDouble()),
                     query.getColumn(3).getDouble(),
                     query.getColumn(4).getDouble()});
  return spans;
}

std::string integrity(fs::path const& state) {
  auto database = open(state);
  return database.execAndGet("PRAGMA integrity_check").getString();
}

}  // namespace torchwatch::e2e
