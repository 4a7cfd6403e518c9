#include "tests/years/copies.h"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "tests/years/request.h"

namespace torchwatch::years {
namespace {

constexpr std::int64_t seconds_of_year = std::int64_t{days_of_year} * 24 * 3600;

/// A database that is changed in one transaction, without waiting for the disk. Removes the seal,
/// because it holds the SHA-256 of the unchanged file.
class Rows {
 public:
  explicit Rows(std::filesystem::path const& file)
      : database_{file.string(), SQLite::OPEN_READWRITE} {
    database_.exec(
        "PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536");
    std::filesystem::remove(file.string() + ".seal");
    database_.exec("BEGIN");
  }

  SQLite::Database& operator*() { return database_; }

  SQLite::Database* operator->() { return &database_; }

  void keep() {
    database_.exec("COMMIT");
    database_.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }

 private:
  SQLite::Database database_;
};

// ---------------------------------------------------------------------------------------- series

/// The columns by which tables name a benchmark.
struct Place {
  std::string fleet;
  std::string benchmark;
};

constexpr auto copy_names = R"sql(
INSERT INTO series (fleet, benchmark, metric)
SELECT :fleet, :benchmark, metric FROM series WHERE fleet = :of_fleet AND benchmark = :of_benchmark
)sql";

constexpr auto copy_nights = R"sql(
INSERT INTO night
SELECT its.id, nightly_id, level * :times, low * :times, high * :times, processes, NULL,
       fingerprint_id, is_judged
FROM series AS old JOIN night ON series_id = old.id
JOIN series AS its ON its.metric = old.metric AND its.fleet = :fleet AND its.benchmark = :benchmark
WHERE old.fleet = :of_fleet AND old.benchmark = :of_benchmark
)sql";

/// SQL: copies the jobs of sweeps and profiles, which every benchmark has.
constexpr auto copy_jobs = R"sql(
INSERT INTO job (id, campaign, fleet, benchmark, commit_sha, round, error_code, error, version,
                 fingerprint_id, seconds, finished_at, accounts, profile, seed, place, slot)
SELECT id + :step, campaign, :fleet, :benchmark, commit_sha, round, error_code, error, version,
       fingerprint_id, seconds, finished_at, accounts, profile, seed, place, slot
FROM job WHERE fleet = :of_fleet AND benchmark = :of_benchmark AND id <= :first
  AND (campaign GLOB 'nightly/*' AND round < :rounds OR campaign GLOB 'suite-profile/*')
)sql";

constexpr auto copy_results = R"sql(
INSERT INTO result (job_id, metric, value, samples, outliers)
SELECT job.id, metric, value * :times,
       (SELECT json_group_array(round(each.value * :times, 3)) FROM json_each(samples) AS each),
       outliers
FROM job JOIN result ON job_id = job.id - :step
WHERE job.fleet = :fleet AND job.benchmark = :benchmark
)sql";

class SeriesCopier {
 public:
  SeriesCopier(SQLite::Database& database, int rounds)
      : database_{database},
        rounds_{rounds},
        jobs_{database.execAndGet("SELECT coalesce(max(id), 0) FROM job").getInt64()} {}

  void copy(Place const& from, Place const& to) {
    // A power of two, so that bytes stay integers.
    constexpr std::array sizes{1.0, 2.0, 0.5, 4.0, 8.0};
    double const times = sizes.at(copies_++ % sizes.size());
    for (auto const* const sql : {copy_names, copy_nights, copy_jobs, copy_results}) {
      SQLite::Statement statement{database_, sql};
      bind(statement, from, to, times);
      statement.exec();
    }
  }

 private:
  void bind(SQLite::Statement& statement, Place const& from, Place const& to, double times) const {
    auto const bind_if_there = [&](char const* name, auto const& value) {
      if (int const index = statement.getIndex(name); index > 0) statement.bind(index, value);
    };
    bind_if_there(":fleet", to.fleet);
    bind_if_there(":benchmark", to.benchmark);
    bind_if_there(":of_fleet", from.fleet);
    bind_if_there(":of_benchmark", from.benchmark);
    bind_if_there(":times", times);
    bind_if_there(":rounds", rounds_);
    bind_if_there(":first", jobs_);
    bind_if_there(":step", jobs_ * static_cast<std::int64_t>(copies_));
  }

  SQLite::Database& database_;
  int rounds_;
  std::int64_t jobs_;
  std::size_t copies_ = 0;
};

std::size_t rows_in(SQLite::Database& database, std::string const& table) {
  return static_cast<std::size_t>(database.execAndGet("SELECT count(*) FROM " + table).getInt64());
}

// ----------------------------------------------------------------------------------------- years

/// A table, and the SQL condition for the rows that are copied.
struct Table {
  std::string_view name;
  std::string_view rows = "TRUE";
};

/// The tables whose rows belong to a year.
constexpr std::array tables{
    Table{"nightly"},
    Table{"job",
          "campaign GLOB 'profile/*' OR campaign GLOB 'bisect/*/proof/*' "
          "OR campaign GLOB 'bisect/*/rebuilt/*' OR campaign GLOB 'bisect/*/revert-check/*' "
          "OR campaign IN (SELECT 'nightly/' || nightly_id FROM incident)"},
    Table{"series_baseline"},
    Table{"comparison"},
    Table{"aa_comparison"},
    Table{"anchor"},
    Table{"anchored_comparison"},
    Table{"incident"},
    Table{"incident_series"},
    Table{"incident_recovery"},
    Table{"incident_event"},
    Table{"outbox"},
    Table{"bisection"},
    Table{"bisection_series"},
    Table{"bisection_step"},
    Table{"bisection_suspect"},
    Table{"bisection_effect"},
    Table{"bisection_finding"},
    Table{"bisection_commit"},
    Table{"package_comparison"},
    Table{"ruling"},
    Table{"alarm"},
    Table{"night"}};

/// Returns the table whose ids a column holds; empty if it holds no ids of `tables`.
std::string table_of(std::string_view table, std::string_view column) {
  if (column == "id") return std::string{table};
  if (column == "nightly_id" || column == "baseline_id" || column == "anchor_id") return "nightly";
  if (column == "incident_id" || column == "earlier_incident_id" || column == "joined_id")
    return "incident";
  if (column == "event_id") return "incident_event";
  if (column == "alarm_id") return "alarm";
  if (column == "bisection_id" || column == "outer_id") return "bisection";
  return column == "job_id" ? "job" : "";
}

bool is_time(std::string_view column) {
  return column.ends_with("_at") || column == "at" || column == "time" || column == "until";
}

/// SQL: the hash with another first digit, for a copied year. An unknown hash stays empty.
std::string other_hash(std::string const& column, int years) {
  constexpr auto sql =
      "CASE WHEN {1} = '' THEN '' ELSE "
      "substr('{0}', (instr('{0}', substr({1}, 1, 1)) + {2}) % 16 + 1, 1) || substr({1}, 2) END";
  return fmt::format(fmt::runtime(sql), "0123456789abcdef", column, years - 1);
}

class YearCopier {
 public:
  YearCopier(SQLite::Database& database, std::size_t years)
      : database_{database},
        years_{static_cast<int>(years)} {
    for (auto const& table : tables)
      note_ids(std::string{table.name});
  }

  /// Gives the newest year the greatest ids, then adds the copies, newest first.
  void copy() {
    delete_recoveries();
    for (auto const& table : tables)
      update_ids(std::string{table.name});
    update_ids("result");
    for (int back = 1; back < years_; ++back)
      copy_all(back);
  }

 private:
  /// Deletes the processes of recoveries, whose campaigns have two ids. Their results stay.
  void delete_recoveries() {
    database_.exec(
        "DELETE FROM result WHERE job_id IN (SELECT id FROM job WHERE campaign GLOB 'recover/*'); "
        "DELETE FROM job WHERE campaign GLOB 'recover/*'");
  }

  std::vector<std::string> columns_of(std::string const& table) const {
    SQLite::Statement query{database_, "SELECT name FROM pragma_table_info(?)"};
    query.bind(1, table);
    std::vector<std::string> columns;
    while (query.executeStep())
      columns.push_back(query.getColumn(0).getString());
    return columns;
  }

  void note_ids(std::string const& table) {
    for (auto const& column : columns_of(table))
      if (column == "id")
        ids_[table] = database_.execAndGet("SELECT coalesce(max(id), 0) FROM " + table).getInt64();
  }

  /// SQL: the id moved by `years` years of ids.
  std::string further(std::string const& id, std::string const& of, int years) const {
    return fmt::format("{} + {}", id, ids_.at(of) * years);
  }

  /// SQL: a campaign such as "nightly/12" with its id moved by `years` years of ids.
  std::string campaign_further(int years) const {
    auto const parts =
        "CAST(substr(campaign, instr(campaign, '/') + 1) AS INTEGER) + CASE "
        "WHEN campaign GLOB 'bisect/*' THEN {} WHEN campaign GLOB 'profile/*' THEN {} ELSE {} END";
    auto const id = fmt::format(fmt::runtime(parts),
                                ids_.at("bisection") * years,
                                ids_.at("incident") * years,
                                ids_.at("nightly") * years);
    // The text after the number begins with a slash.
    return fmt::format(
        "substr(campaign, 1, instr(campaign, '/')) || ({}) || ltrim(substr(campaign, "
        "instr(campaign, '/') + 1), '0123456789')",
        id);
  }

  void update_ids(std::string const& table) {
    std::string set;
    for (auto const& column : columns_of(table)) {
      auto const of = table_of(table, column);
      auto const value = column == "campaign" ? campaign_further(years_ - 1)
                         : of.empty()         ? ""
                                              : further(column, of, years_ - 1);
      if (!value.empty()) set += (set.empty() ? "" : ", ") + column + " = " + value;
    }
    database_.exec("UPDATE " + table + " SET " + set);
  }

  /// SQL: the value of a column in a copy that is `back` years older.
  std::string copied(std::string const& table, std::string const& column, int back) const {
    if (auto const of = table_of(table, column); !of.empty()) return further(column, of, -back);
    if (column == "campaign") return campaign_further(-back);
    if (column.ends_with("_sha")) return other_hash(column, back);
    if (column == "date")
      return fmt::format("date(date, '-{} days')", back * static_cast<int>(days_of_year));
    if (column == "file_url") return fmt::format("file_url || '?{}'", back);
    if (column == "cleared_at")
      return fmt::format("coalesce(cleared_at, raised_at + 86400) - {}", back * seconds_of_year);
    if (is_time(column)) return fmt::format("{} - {}", column, back * seconds_of_year);
    if (table == "bisection" && column == "state")
      return "CASE WHEN state IN ('queued', 'running', 'paused') THEN 'cancelled' ELSE state END";
    return column;
  }

  void copy_all(int back) {
    for (auto const& [name, rows] : tables)
      copy_rows(std::string{name}, std::string{rows}, back);
    database_.exec(
        fmt::format("INSERT INTO result SELECT job.id, metric, value, samples, outliers FROM job "
                    "JOIN result ON job_id = job.id + {} WHERE job.id BETWEEN {} AND {}",
                    ids_.at("job") * back,
                    ids_.at("job") * (years_ - 1 - back) + 1,
                    ids_.at("job") * (years_ - back)));
  }

  /// Copies rows of the newest year, which has the greatest ids.
  void copy_rows(std::string const& table, std::string const& rows, int back) {
    std::string names;
    std::string values;
    std::string key;
    for (auto const& column : columns_of(table)) {
      names += (names.empty() ? "" : ", ") + column;
      values += (values.empty() ? "" : ", ") + copied(table, column, back);
      if (key.empty() && !table_of(table, column).empty()) key = column;
    }
    database_.exec(
        fmt::format("INSERT INTO {0} ({1}) SELECT {2} FROM {0} WHERE {3} > {4} AND ({5})",
                    table,
                    names,
                    values,
                    key,
                    ids_.at(table_of(table, key)) * (years_ - 1),
                    rows));
  }

  SQLite::Database& database_;
  int years_;
  std::map<std::string, std::int64_t> ids_;  // ids of one year, by table
};

}  // namespace

std::vector<FleetModel> copy_series(std::filesystem::path const& database,
                                    Suite const& suite,
                                    std::size_t wanted,
                                    int rounds) {
  Rows rows{database};
  SeriesCopier copier{*rows, rounds};
  std::vector<FleetModel> added;
  for (auto const& copy : suite.copies()) {
    if (rows_in(*rows, "series") >= wanted) break;
    for (auto const test : {Test::train, Test::eval}) {
      auto const from = benchmark_on(copy.fleet == "gpu" ? "gpu" : "cpu", suite.quiet(), test);
      auto const to = benchmark_on(copy.fleet, copy.model, test);
      copier.copy({from.fleet, name_of(from.benchmark)}, {to.fleet, name_of(to.benchmark)});
    }
    added.push_back(copy);
  }
  if (auto const found = rows_in(*rows, "series"); found < wanted)
    throw std::invalid_argument(fmt::format(
        "--series: found {}, allowed up to {}: all models, tests and fleets", wanted, found));
  rows.keep();
  return added;
}

void copy_years(std::filesystem::path const& database, std::size_t years) {
  if (years < 2) return;
  Rows rows{database};
  YearCopier{*rows, years}.copy();
  rows.keep();
}

std::size_t count_rows(std::filesystem::path const& database, std::string const& table) {
  Rows rows{database};
  return rows_in(*rows, table);
}

void move_paths(std::filesystem::path const& database,
                std::string const& before,
                std::string const& after) {
  Rows rows{database};
  for (std::string const column :
       {"nightly.prefix", "build.prefix", "incident.report", "outbox.place"}) {
    auto const dot = column.find('.');
    auto const name = column.substr(dot + 1);
    SQLite::Statement update{
        *rows,
        "UPDATE " + column.substr(0, dot) + " SET " + name + " = replace(" + name + ", ?, ?)"};
    update.bind(1, before);
    update.bind(2, after);
    update.exec();
  }
  rows.keep();
}

}  // namespace torchwatch::years
