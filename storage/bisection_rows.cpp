#include "storage/bisection_rows.h"

#include <cstdint>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include "storage/database.h"
#include "storage/rows.h"
#include "storage/state_paths.h"
#include "storage/verdicts.h"

namespace torchwatch::storage {
namespace {

nlohmann::json to_json(std::vector<CommitSha> const& commits) {
  auto list = nlohmann::json::array();
  for (auto const& commit : commits)
    list.push_back(commit.hex);
  return list;
}

nlohmann::json to_json(std::vector<MetricLevels> const& readings) {
  auto list = nlohmann::json::array();
  for (auto const& [metric, levels] : readings)
    list.push_back({{"metric", to_string(metric)}, {"levels", levels}});
  return list;
}

nlohmann::json to_json(std::vector<SeriesBelief> const& beliefs) {
  auto list = nlohmann::json::array();
  for (auto const& belief : beliefs) {
    list.push_back({{"fleet", belief.series.fleet},
                    {"benchmark", name_of(belief.series.benchmark)},
                    {"metric", to_string(belief.series.metric)},
                    {"no_change", belief.no_change},
                    {"first", belief.first.hex},
                    {"last", belief.last.hex},
                    {"probability", belief.probability}});
  }
  return list;
}

template <class Parse>
auto word_of(nlohmann::json const& value, Parse parse) {
  auto const text = value.get<std::string>();
  auto const word = parse(text);
  if (!word) throw std::runtime_error("unknown word \"" + text + "\"");
  return *word;
}

CommitSha commit_of(nlohmann::json const& value) {
  return CommitSha{value.get<std::string>()};
}

MetricLevels levels_of(nlohmann::json const& value) {
  return MetricLevels{word_of(value.at("metric"), parse_metric),
                      value.at("levels").get<std::vector<double>>()};
}

SeriesBelief belief_of(nlohmann::json const& value) {
  SeriesBelief belief;
  belief.series = Series{value.at("fleet").get<std::string>(),
                         word_of(value.at("benchmark"), parse_benchmark),
                         word_of(value.at("metric"), parse_metric)};
  belief.no_change = value.at("no_change").get<double>();
  belief.first = commit_of(value.at("first"));
  belief.last = commit_of(value.at("last"));
  belief.probability = value.at("probability").get<double>();
  return belief;
}

/// Reads a JSON array, value by value. Throws when the column holds something else.
template <class Read>
auto read_list(SQLite::Column const& column, Read read) {
  try {
    std::vector<decltype(read(nlohmann::json{}))> list;
    auto const json = read_json(column);
    for (auto const& value : json.get<std::vector<nlohmann::json>>())
      list.push_back(read(value));
    return list;
  } catch (std::exception const& problem) {
    throw std::runtime_error(std::string{"database holds a corrupt list in column "} +
                             column.getName() + ": " + problem.what());
  }
}

BisectionStep read_step(SQLite::Statement& row) {
  BisectionStep step;
  step.wave = row.getColumn(0).getInt();
  step.fleet = row.getColumn(1).getString();
  step.benchmark = read_word(row.getColumn(2), parse_benchmark);
  step.commits = read_list(row.getColumn(3), commit_of);
  step.reason = row.getColumn(4).getString();
  step.is_done = row.getColumn(5).getInt() != 0;
  step.readings = read_list(row.getColumn(6), levels_of);
  if (!row.getColumn(7).isNull()) step.skipped = CommitSha{row.getColumn(7).getString()};
  step.note = row.getColumn(8).getString();
  step.beliefs = read_list(row.getColumn(9), belief_of);
  step.stage = read_word(row.getColumn(10), parse_bisection_stage);
  step.is_unbuilt = row.getColumn(11).getInt() != 0;
  return step;
}

/// Reads five columns from `first`: commit_sha, subject, author, time, pull_request.
Commit read_commit(SQLite::Statement& row, int first) {
  Commit commit;
  commit.sha.hex = row.getColumn(first).getString();
  commit.subject = row.getColumn(first + 1).getString();
  commit.author = row.getColumn(first + 2).getString();
  commit.time = read_time(row.getColumn(first + 3));
  if (!row.getColumn(first + 4).isNull()) commit.pull_request = row.getColumn(first + 4).getInt();
  return commit;
}

constexpr auto effect_columns =
    "finding, fleet, benchmark, metric, before, after, probability, share, "
    "proof_verdict, proof_before, proof_after, proof_ratio, proof_low, proof_high, "
    "proof_error_bound, proof_pairs, "
    "revert_check_verdict, revert_check_before, revert_check_after, revert_check_ratio, "
    "revert_check_low, revert_check_high, revert_check_error_bound, revert_check_pairs, "
    "rebuilt_verdict, rebuilt_before, rebuilt_after, rebuilt_ratio, rebuilt_low, rebuilt_high, "
    "rebuilt_error_bound, rebuilt_pairs, is_doubted";

/// Reads `effect_columns` without the first.
Effect read_effect(SQLite::Statement& row) {
  Effect effect;
  effect.series = read_series(row, 1);
  effect.before = row.getColumn(4).getDouble();
  effect.after = row.getColumn(5).getDouble();
  effect.probability = row.getColumn(6).getDouble();
  effect.share = row.getColumn(7).getDouble();
  if (!row.getColumn(8).isNull()) effect.proof = read_comparison(row, 8);
  if (!row.getColumn(16).isNull()) effect.revert_check = read_comparison(row, 16);
  if (!row.getColumn(24).isNull()) effect.rebuilt = read_comparison(row, 24);
  effect.is_doubted = row.getColumn(32).getInt() != 0;
  return effect;
}

void clear(Database& database, std::string const& table, BisectionId id) {
  Statement clear{database, "DELETE FROM " + table + " WHERE bisection_id = ?"};
  bind_all(clear, id.value);
  clear.exec();
}

/// The columns of a finding, of its earlier incident, and the id of the bisection that searches its
/// only suspect, a merge.
constexpr auto select_own_columns =
    "SELECT finding, no_revert_check, is_gradual, reverted_by_sha, approvers, incident.id, "
    "nightly.date, incident.report, missing, merged, "
    "(SELECT branch.id FROM bisection AS branch JOIN bisection_suspect AS suspect "
    "ON suspect.bisection_id = branch.outer_id AND suspect.commit_sha = branch.merge_sha "
    "WHERE branch.outer_id = bisection_finding.bisection_id "
    "AND suspect.finding = bisection_finding.finding AND suspect.ordinal = 0 AND merged > 0) "
    "FROM bisection_finding "
    "LEFT JOIN incident ON incident.id = earlier_incident_id "
    "LEFT JOIN nightly ON nightly.id = incident.nightly_id WHERE bisection_id = ?";

void read_own_columns(Database& database, SQLite::Statement& row, Finding& finding) {
  finding.no_revert_check = row.getColumn(1).getString();
  finding.is_gradual = row.getColumn(2).getInt() != 0;
  if (!row.getColumn(3).isNull()) finding.reverted_by = CommitSha{row.getColumn(3).getString()};
  finding.approvers = lines_of(row.getColumn(4).getString());
  finding.missing = row.getColumn(8).getInt();
  finding.merged = row.getColumn(9).getInt();
  if (!row.getColumn(10).isNull()) finding.searched_by = BisectionId{row.getColumn(10).getInt64()};
  if (row.getColumn(5).isNull()) return;
  finding.earlier = EarlierIncident{IncidentId{row.getColumn(5).getInt64()},
                                    row.getColumn(6).getString(),
                                    path_of(database, row.getColumn(7).getString())};
}

/// `table_and_key`: "bisection_suspect (bisection_id, finding, ordinal". `key`: the values of these
/// columns.
template <class... Key>
void insert_commit(Database& database,
                   std::string const& table_and_key,
                   Commit const& commit,
                   Key const&... key) {
  std::string marks = "?, ?, ?, ?, ?";
  for (std::size_t i = 0; i < sizeof...(key); ++i)
    marks += ", ?";
  Statement insert{database,
                   "INSERT INTO " + table_and_key +
                       ", commit_sha, subject, author, time, pull_request) VALUES (" + marks + ")"};
  bind_all(insert,
           key...,
           commit.sha.hex,
           commit.subject,
           commit.author,
           seconds_of(commit.time),
           commit.pull_request);
  insert.exec();
}

void insert_suspects(Database& database,
                     BisectionId id,
                     int finding,
                     std::vector<Commit> const& suspects) {
  int ordinal = 0;
  for (auto const& commit : suspects)
    insert_commit(database,
                  "bisection_suspect (bisection_id, finding, ordinal",
                  commit,
                  id.value,
                  finding,
                  ordinal++);
}

void insert_effects(Database& database,
                    BisectionId id,
                    int finding,
                    std::vector<Effect> const& effects) {
  int ordinal = 0;
  for (auto const& effect : effects) {
    Statement insert{
        database,
        std::string{"INSERT INTO bisection_effect (bisection_id, ordinal, "} + effect_columns +
            ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
            "?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    bind_all(insert,
             id.value,
             ordinal++,
             finding,
             effect.series,
             effect.before,
             effect.after,
             effect.probability,
             effect.share,
             effect.proof,
             effect.revert_check,
             effect.rebuilt,
             effect.is_doubted ? 1 : 0);
    insert.exec();
  }
}

}  // namespace

std::vector<BisectionStep> select_steps(Database& database, BisectionId id) {
  Statement query{database,
                  "SELECT wave, fleet, benchmark, commits, reason, is_done, readings, "
                  "skipped_sha, note, beliefs, stage, is_unbuilt FROM bisection_step "
                  "WHERE bisection_id = ? ORDER BY ordinal"};
  bind_all(query, id.value);
  return read_all(query, read_step);
}

StepTally select_tally(Database& database, BisectionId id) {
  Statement query{database,
                  "SELECT count(*), count(*) FILTER (WHERE is_done) FROM bisection_step "
                  "WHERE bisection_id = ?"};
  bind_all(query, id.value);
  query.executeStep();
  return {query.getColumn(0).getInt(), query.getColumn(1).getInt()};
}

void write_step(Database& database,
                BisectionId id,
                std::size_t ordinal,
                BisectionStep const& step) {
  Statement insert{
      database,
      "INSERT OR REPLACE INTO bisection_step (bisection_id, ordinal, wave, fleet, benchmark, "
      "commits, reason, is_done, readings, skipped_sha, note, beliefs, stage, is_unbuilt) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
  bind_all(insert,
           id.value,
           static_cast<std::int64_t>(ordinal),
           step.wave,
           step.fleet,
           name_of(step.benchmark),
           to_json(step.commits).dump(),
           step.reason,
           step.is_done ? 1 : 0,
           to_json(step.readings).dump(),
           step.skipped ? std::optional{step.skipped->hex} : std::nullopt,
           step.note,
           to_json(step.beliefs).dump(),
           std::string{to_string(step.stage)},
           step.is_unbuilt ? 1 : 0);
  insert.exec();
}

std::vector<Commit> select_commits(Database& database, BisectionId id) {
  Statement query{database,
                  "SELECT commit_sha, subject, author, time, pull_request "
                  "FROM bisection_commit WHERE bisection_id = ? ORDER BY ordinal"};
  bind_all(query, id.value);
  return read_all(query, [](SQLite::Statement& row) { return read_commit(row, 0); });
}

void write_commits(Database& database, BisectionId id, std::vector<Commit> const& commits) {
  Statement clear{database, "DELETE FROM bisection_commit WHERE bisection_id = ?"};
  bind_all(clear, id.value);
  clear.exec();
  int ordinal = 0;
  for (auto const& commit : commits)
    insert_commit(database, "bisection_commit (bisection_id, ordinal", commit, id.value, ordinal++);
}

std::vector<Finding> select_findings(Database& database, BisectionId id) {
  std::vector<Finding> findings;
  Statement suspects{database,
                     "SELECT finding, commit_sha, subject, author, time, pull_request "
                     "FROM bisection_suspect WHERE bisection_id = ? "
                     "ORDER BY finding, ordinal"};
  bind_all(suspects, id.value);
  while (suspects.executeStep()) {
    if (suspects.getColumn(0).getInt() >= std::ssize(findings)) findings.emplace_back();
    findings.back().suspects.push_back(read_commit(suspects, 1));
  }
  Statement effects{database,
                    std::string{"SELECT "} + effect_columns +
                        " FROM bisection_effect WHERE bisection_id = ? "
                        "ORDER BY finding, ordinal"};
  bind_all(effects, id.value);
  while (effects.executeStep()) {
    auto const finding = static_cast<std::size_t>(effects.getColumn(0).getInt());
    findings.at(finding).effects.push_back(read_effect(effects));
  }
  Statement own{database, select_own_columns};
  bind_all(own, id.value);
  while (own.executeStep())
    read_own_columns(
        database, own, findings.at(static_cast<std::size_t>(own.getColumn(0).getInt())));
  return findings;
}

void write_findings(Database& database, BisectionId id, std::vector<Finding> const& findings) {
  for (auto const* const table : {"bisection_finding", "bisection_suspect", "bisection_effect"})
    clear(database, table, id);
  int at = 0;
  for (auto const& finding : findings) {
    Statement insert{
        database,
        "INSERT INTO bisection_finding (bisection_id, finding, no_revert_check, is_gradual, "
        "reverted_by_sha, approvers, earlier_incident_id, missing, merged) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    bind_all(insert,
             id.value,
             at,
             finding.no_revert_check,
             finding.is_gradual ? 1 : 0,
             finding.reverted_by ? std::optional{finding.reverted_by->hex} : std::nullopt,
             text_of(finding.approvers),
             finding.earlier ? std::optional{finding.earlier->id.value} : std::nullopt,
             finding.missing,
             finding.merged);
    insert.exec();
    insert_suspects(database, id, at, finding.suspects);
    insert_effects(database, id, at, finding.effects);
    ++at;
  }
}

Packages select_packages(Database& database, BisectionId id, std::string const& differences) {
  return Packages{lines_of(differences), select_verdicts(database, of_packages, id.value)};
}

void write_packages(Database& database, BisectionId id, std::optional<Packages> const& packages) {
  clear(database, of_packages.name, id);
  Statement update{database, "UPDATE bisection SET package_differences = ? WHERE id = ?"};
  bind_all(
      update, packages ? std::optional{text_of(packages->differences)} : std::nullopt, id.value);
  update.exec();
  if (!packages) return;
  for (auto const& change : packages->changes)
    insert_verdict(database, of_packages, id.value, change);
}

}  // namespace torchwatch::storage
