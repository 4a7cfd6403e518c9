#include "storage/jobs.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "storage/database.h"
#include "storage/rows.h"

namespace torchwatch::storage {
namespace {

constexpr auto select_jobs =
    "SELECT job.id, campaign, fleet, benchmark, commit_sha, round, error_code, error, version, "
    "fingerprint.json, seconds, finished_at, accounts, profile, seed, place, slot "
    "FROM job JOIN fingerprint ON fingerprint.id = job.fingerprint_id ";

std::vector<double> read_samples(SQLite::Column const& column) {
  return read_json(column).get<std::vector<double>>();
}

/// Reads three columns from `first`: value, samples, outliers.
MetricValue read_value(SQLite::Statement& row, int first) {
  MetricValue value;
  value.value = row.getColumn(first).getDouble();
  read_json(row.getColumn(first + 1)).get_to(value.samples);
  read_json(row.getColumn(first + 2)).get_to(value.outliers);
  return value;
}

nlohmann::json to_json(std::vector<OperatorCost> const& profile) {
  auto list = nlohmann::json::array();
  for (auto const& [name, calls, ms, bytes] : profile)
    list.push_back({{"name", name}, {"calls", calls}, {"ms", ms}, {"bytes", bytes}});
  return list;
}

std::vector<OperatorCost> read_profile(SQLite::Column const& column) {
  std::vector<OperatorCost> profile;
  auto const list = read_json(column);
  for (auto const& cost : list)
    profile.push_back({cost.at("name"), cost.at("calls"), cost.at("ms"), cost.at("bytes")});
  return profile;
}

/// Returns the error code, or nothing without an error. An unknown word of a worker is `failed`.
std::optional<JobError> read_error_code(SQLite::Column const& column) {
  auto const word = column.getString();
  if (word.empty()) return std::nullopt;
  return parse_job_error(word).value_or(JobError::failed);
}

/// Reads four columns, from the second on: fleet, benchmark, commit, round.
JobKey read_key(SQLite::Statement& row, Campaign const& campaign) {
  return {campaign,
          row.getColumn(1).getString(),
          read_word(row.getColumn(2), parse_benchmark),
          {row.getColumn(3).getString()},
          row.getColumn(4).getInt()};
}

JobOutcome read_job(SQLite::Statement& row) {
  JobOutcome outcome;
  outcome.key.campaign.name = row.getColumn(1).getString();
  outcome.key.fleet = row.getColumn(2).getString();
  outcome.key.benchmark = read_word(row.getColumn(3), parse_benchmark);
  outcome.key.commit.hex = row.getColumn(4).getString();
  outcome.key.round = row.getColumn(5).getInt();
  outcome.error_code = read_error_code(row.getColumn(6));
  outcome.error = row.getColumn(7).getString();
  outcome.version = row.getColumn(8).getString();
  outcome.fingerprint = read_json_text(row.getColumn(9));
  outcome.seconds = row.getColumn(10).getDouble();
  outcome.finished_at = read_time(row.getColumn(11));
  outcome.accounts = read_json(row.getColumn(12));
  outcome.profile = read_profile(row.getColumn(13));
  outcome.seed = row.getColumn(14).getUInt();
  outcome.place = row.getColumn(15).getInt();
  outcome.slot = row.getColumn(16).getInt();
  return outcome;
}

/// Reads a job with its values. `row` is open on a job, with its id in column 0.
JobOutcome read_job(Database& database, SQLite::Statement& row) {
  auto outcome = read_job(row);
  Statement values{database,
                   "SELECT metric, value, samples, outliers FROM result WHERE job_id = ?"};
  bind_all(values, row.getColumn(0).getInt64());
  while (values.executeStep())
    outcome.values[read_word(values.getColumn(0), parse_metric)] = read_value(values, 1);
  return outcome;
}

std::int64_t fingerprint_id(Database& database, std::string const& json) {
  Statement insert{database, "INSERT OR IGNORE INTO fingerprint (json) VALUES (?)"};
  bind_all(insert, json);
  insert.exec();
  Statement query{database, "SELECT id FROM fingerprint WHERE json = ?"};
  bind_all(query, json);
  query.executeStep();
  return query.getColumn(0).getInt64();
}

std::string select_gpu_shares(std::string const& condition) {
  return "SELECT fleet, benchmark, avg(accounts ->> 'gpu_active_share') AS active, "
         "avg(accounts ->> 'gpu_data_movement_share'), avg(accounts ->> 'gpu_idle_share') "
         "FROM job WHERE " +
         condition +
         " GROUP BY fleet, benchmark HAVING active IS NOT NULL ORDER BY fleet, benchmark";
}

GpuShares read_gpu_shares(SQLite::Statement& row) {
  return {{row.getColumn(0).getString(), read_word(row.getColumn(1), parse_benchmark)},
          row.getColumn(2).getDouble(),
          row.getColumn(3).getDouble(),
          row.getColumn(4).getDouble()};
}

}  // namespace

void Jobs::record(std::vector<JobOutcome> const& outcomes) {
  SQLite::Transaction transaction{database_, SQLite::TransactionBehavior::IMMEDIATE};
  auto const known = [this](JobOutcome const& outcome) {
    return is_known(outcome);
  };
  if (std::ranges::all_of(outcomes, known)) return;
  clear_rounds_of(outcomes);
  for (auto const& outcome : outcomes)
    insert(outcome);
  transaction.commit();
}

bool Jobs::is_known(JobOutcome const& outcome) const {
  Statement query{database_,
                  "SELECT 1 FROM job WHERE campaign = ? AND fleet = ? AND benchmark = ? "
                  "AND commit_sha = ? AND round = ?"};
  auto const& key = outcome.key;
  bind_all(query, key.campaign.name, key.fleet, name_of(key.benchmark), key.commit.hex, key.round);
  return query.executeStep();
}

void Jobs::clear_rounds_of(std::vector<JobOutcome> const& outcomes) {
  Statement remove{
      database_,
      "DELETE FROM job WHERE campaign = ? AND fleet = ? AND benchmark = ? AND round = ?"};
  for (auto const& outcome : outcomes) {
    auto const& key = outcome.key;
    bind_all(remove, key.campaign.name, key.fleet, name_of(key.benchmark), key.round);
    remove.exec();
    remove.reset();
  }
}

void Jobs::insert(JobOutcome const& outcome) {
  Statement insert{database_,
                   "INSERT INTO job (campaign, fleet, benchmark, commit_sha, "
                   "round, error_code, error, "
                   "version, fingerprint_id, seconds, finished_at, accounts, profile, "
                   "seed, place, slot) "
                   "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
  bind_all(insert,
           outcome.key.campaign.name,
           outcome.key.fleet,
           name_of(outcome.key.benchmark),
           outcome.key.commit.hex,
           outcome.key.round,
           std::string{outcome.error_code ? to_string(*outcome.error_code) : ""},
           outcome.error,
           outcome.version,
           fingerprint_id(database_, outcome.fingerprint),
           outcome.seconds,
           seconds_of(outcome.finished_at),
           nlohmann::json(outcome.accounts).dump(),
           to_json(outcome.profile).dump(),
           outcome.seed,
           outcome.place,
           outcome.slot);
  insert.exec();
  auto const job = database_.getLastInsertRowid();
  for (auto const& [metric, value] : outcome.values) {
    Statement add{
        database_,
        "INSERT INTO result (job_id, metric, value, samples, outliers) VALUES (?, ?, ?, ?, ?)"};
    bind_all(add,
             job,
             std::string{to_string(metric)},
             value.value,
             nlohmann::json(value.samples).dump(),
             nlohmann::json(value.outliers).dump());
    add.exec();
  }
}

std::optional<JobOutcome> Jobs::find(JobKey const& key) const {
  Statement query{
      database_,
      std::string{select_jobs} +
          "WHERE campaign = ? AND fleet = ? AND benchmark = ? AND commit_sha = ? AND round = ?"};
  bind_all(query, key.campaign.name, key.fleet, name_of(key.benchmark), key.commit.hex, key.round);
  if (!query.executeStep()) return std::nullopt;
  return read_job(database_, query);
}

std::vector<JobOutcome> Jobs::of(Campaign const& campaign) const {
  Statement query{
      database_,
      std::string{select_jobs} + "WHERE campaign = ? ORDER BY fleet, benchmark, commit_sha, round"};
  bind_all(query, campaign.name);
  return read_all(query, [this](SQLite::Statement& row) { return read_job(database_, row); });
}

std::vector<JobOutcome> Jobs::values_of(Campaign const& campaign, int rounds) const {
  Statement query{database_,
                  "SELECT job.id, fleet, benchmark, commit_sha, round, metric, value, samples "
                  "FROM job JOIN result ON result.job_id = job.id WHERE campaign = ? AND round < ? "
                  "ORDER BY fleet, benchmark, commit_sha, round"};
  bind_all(query, campaign.name, rounds);
  std::vector<JobOutcome> outcomes;
  std::int64_t last = 0;
  while (query.executeStep()) {
    auto const job = query.getColumn(0).getInt64();
    if (job != std::exchange(last, job)) outcomes.emplace_back().key = read_key(query, campaign);
    outcomes.back().values[read_word(query.getColumn(5), parse_metric)] = {
        query.getColumn(6).getDouble(), read_samples(query.getColumn(7))};
  }
  return outcomes;
}

std::optional<Extent> Jobs::extent_of(Campaign const& campaign) const {
  Statement query{database_,
                  "SELECT processes, (SELECT finished_at FROM job WHERE id = first), "
                  "(SELECT finished_at FROM job WHERE id = last) "
                  "FROM (SELECT count(*) AS processes, min(id) AS first, max(id) AS last FROM job "
                  "WHERE campaign = ?)"};
  bind_all(query, campaign.name);
  query.executeStep();
  if (query.getColumn(0).getInt64() == 0) return std::nullopt;
  return Extent{
      query.getColumn(0).getInt64(), read_time(query.getColumn(1)), read_time(query.getColumn(2))};
}

std::vector<GpuShares> Jobs::gpu_shares(CommitSha const& commit) const {
  Statement query{database_,
                  select_gpu_shares("campaign GLOB '" + std::string{profile_campaign_prefix} +
                                    "*' AND commit_sha = ?")};
  bind_all(query, commit.hex);
  return read_all(query, read_gpu_shares);
}

std::vector<GpuShares> Jobs::gpu_shares(Campaign const& suite_profile) const {
  Statement query{database_, select_gpu_shares("campaign = ?")};
  bind_all(query, suite_profile.name);
  return read_all(query, read_gpu_shares);
}

std::vector<NightlyId> Jobs::profiled_nightlies() const {
  Statement query{database_,
                  "SELECT DISTINCT campaign FROM job WHERE campaign GLOB '" +
                      std::string{suite_profile_campaign_prefix} + "*'"};
  auto all = read_all(query, [](SQLite::Statement& row) {
    return subject_of({row.getColumn(0).getString()}).nightly.value();
  });
  std::ranges::sort(all, std::ranges::greater{}, &NightlyId::value);
  return all;
}

std::vector<Campaign> Jobs::campaigns() const {
  Statement query{database_, "SELECT DISTINCT campaign FROM job ORDER BY campaign"};
  return read_all(query,
                  [](SQLite::Statement& row) { return Campaign{row.getColumn(0).getString()}; });
}

int Jobs::remove(Campaign const& campaign, int most) {
  Statement remove{database_,
                   "DELETE FROM job WHERE id IN (SELECT id FROM job WHERE campaign = ? LIMIT ?)"};
  bind_all(remove, campaign.name, most);
  return remove.exec();
}

int Jobs::remove_unused_hosts(int most) {
  Statement remove{
      database_,
      "DELETE FROM fingerprint WHERE id IN (SELECT id FROM fingerprint WHERE "
      "NOT EXISTS (SELECT 1 FROM job WHERE fingerprint_id = fingerprint.id) AND "
      "NOT EXISTS (SELECT 1 FROM night WHERE fingerprint_id = fingerprint.id) LIMIT ?)"};
  bind_all(remove, most);
  return remove.exec();
}

std::vector<SeriesPoint> Jobs::history(Series const& series) const {
  Statement query{
      database_,
      "SELECT job.commit_sha, "
      "coalesce((SELECT max(date) FROM nightly WHERE nightly.commit_sha = job.commit_sha), ''), "
      "campaign, value, samples, outliers, finished_at, seed, place FROM job JOIN result ON "
      "result.job_id = job.id "
      "WHERE fleet = ? AND benchmark = ? AND metric = ? ORDER BY finished_at, job.id"};
  bind_all(query, series.fleet, name_of(series.benchmark), std::string{to_string(series.metric)});
  return read_all(query, [](SQLite::Statement& row) {
    SeriesPoint point;
    point.commit.hex = row.getColumn(0).getString();
    point.date = row.getColumn(1).getString();
    point.campaign.name = row.getColumn(2).getString();
    point.value = read_value(row, 3);
    point.measured_at = read_time(row.getColumn(6));
    point.seed = row.getColumn(7).getUInt();
    point.place = row.getColumn(8).getInt();
    return point;
  });
}

}  // namespace torchwatch::storage
