#include "storage/migrations.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/bisections.h"
#include "storage/jobs.h"
#include "storage/soundness.h"
#include "storage/store.h"
#include "tests/storage/tables.h"

namespace torchwatch::tests {
namespace {

using storage::Store;

/// Rows that each version brought room for, in the SQL of its day.
std::vector<std::string> const rows_since{
    R"sql(
      INSERT INTO nightly VALUES (1, '2026-01-01', '2.9', 'aaa', '', '/a', 'done', NULL, '', 100);
      INSERT INTO nightly VALUES (2, '2026-01-02', '2.9', 'bbb', 'ccc', '/b', 'failed', 1, 'why', 200);
      INSERT INTO fingerprint VALUES (1, '{}');
      INSERT INTO job VALUES (1, 'sweep/1', 'local', 'test_eval[dlrm-cpu-eager]', 'aaa', 0, '', '',
                              '2.9', 1, 1.5, 300);
      INSERT INTO result VALUES (1, 'latency', 10.5, '[10.5,11]');
    )sql",
    R"sql(
      INSERT INTO comparison VALUES (2, 'local', 'test_eval[dlrm-cpu-eager]', 'latency', 'regression',
                                     10, 12, 1.2, 1.1, 1.3, 0.001, 4);
      INSERT INTO incident VALUES (1, 1, 2, 'key', 'place', 400);
    )sql",
    R"sql(
      INSERT INTO build VALUES ('aaa', 'built', '/a', '', 500);
      INSERT INTO bisection VALUES (1, 1, 'aaa', 'bbb', 0.07, 'increase', 'running', NULL, 0, NULL,
                                    NULL, NULL, NULL, NULL, NULL, NULL, NULL, '', 600);
      INSERT INTO bisection_series VALUES (1, 0, 'local', 'test_eval[dlrm-cpu-eager]', 'latency', 0);
      INSERT INTO bisection_step VALUES (1, 0, 'ccc', 'good', 'note');
      INSERT INTO bisection_suspect VALUES (1, 0, 'bbb', 'subject', 'author', 700, 12);
    )sql",
    R"sql(
      UPDATE job SET accounts = '{"rss_peak_bytes":1}';
    )sql",
    R"sql(
      INSERT INTO ruling VALUES (1, 'accept', 1, '', '', '', 'who', 'why', 800, NULL);
    )sql",
    R"sql(
      INSERT INTO aa_comparison VALUES (2, 'local', 'test_eval[dlrm-cpu-eager]', 'latency',
                                        'unchanged', 10, 10, 1, 0.9, 1.1, 0.01, 6, 0);
    )sql",
    R"sql(
      INSERT INTO alarm VALUES (1, 'environment', 'local', 'detail', 900, NULL);
    )sql",
    R"sql(
      INSERT INTO anchor VALUES (2, 'local', 'test_eval[dlrm-cpu-eager]', 1);
      INSERT INTO anchored_comparison VALUES (2, 'local', 'test_eval[dlrm-cpu-eager]', 'latency',
                                              'regression', 10, 11, 1.1, 1.08, 1.12, 0.01, 9, 0);
      UPDATE result SET outliers = '[1]';
    )sql",
    R"sql(
      UPDATE job SET profile = '[{"name":"aten::add.Tensor","calls":2,"ms":0.5,"bytes":4096}]';
    )sql",
    R"sql(
      INSERT INTO bisection_step VALUES (1, 0, 0, 'local', 'test_eval[dlrm-cpu-eager]', '["bbb"]',
                                         'reason', 1, '[{"metric":"latency","levels":[10.5]}]',
                                         NULL, '', '[]');
      INSERT INTO bisection_suspect VALUES (1, 1, 0, 'ccc', 'subject', 'author', 700, NULL);
      INSERT INTO bisection_effect VALUES (1, 1, 0, 'local', 'test_eval[dlrm-cpu-eager]', 'latency',
                                           10, 12, 0.99, 1, 'regression', 10, 12, 1.2, 1.1, 1.3,
                                           0.001, 4);
    )sql",
    R"sql(
      UPDATE build SET seconds = 61.5;
    )sql",
    R"sql(
      INSERT OR REPLACE INTO bisection_finding VALUES (1, 1, 'why not');
      UPDATE bisection_effect SET cure_verdict = 'improvement', cure_before = 12, cure_after = 10,
        cure_ratio = 0.83, cure_low = 0.8, cure_high = 0.86, cure_error_bound = 0.001,
        cure_pairs = 5;
    )sql",
    R"sql(
      UPDATE bisection SET prior = 'paths';
    )sql",
    R"sql(
      UPDATE build SET is_incremental = 1;
    )sql",
    R"sql(
      UPDATE bisection_step SET stage = 'nightlies';
    )sql",
    R"sql(
      INSERT INTO recipe VALUES (1, 'recipe aaa');
      INSERT INTO build VALUES ('aaa', 'built', '/b', '', 500, 60, 0, 1);
      UPDATE bisection SET recipe_id = 1, package_differences = '- gcc 12';
      INSERT INTO package_comparison VALUES (1, 'local', 'test_eval[dlrm-cpu-eager]', 'latency',
                                             'regression', 10, 12, 1.2, 1.1, 1.3, 0.001, 4, 0);
    )sql",
    R"sql(
      UPDATE bisection_effect SET revert_check_pairs = 6;
      UPDATE bisection_finding SET no_revert_check = 'another reason';
    )sql",
    R"sql(
      INSERT INTO recipe VALUES (2, 'https://ci/{commit}', 'artifacts');
    )sql",
    R"sql(
      UPDATE bisection_step SET wave = 2;
    )sql",
    R"sql(
      INSERT INTO nightly VALUES (3, '2026-01-03', '2.9', '', '', '', 'announced', NULL, '', 300,
                                  'https://index/a.whl', 'sha', '"etag"', 'Tue');
    )sql",
    R"sql(
      INSERT INTO kept_build VALUES ('nightly-1', 1000, 100, 200, 'ada', 'why', 300);
      INSERT INTO wanted_build VALUES (1, 'ada', 'why', 400);
    )sql", "",
    R"sql(
      INSERT INTO job VALUES (2, 'nightly/2', 'local', 'test_eval[dlrm-cpu-eager]', 'bbb', 0, '',
                              '', '2.9', 1, 1.5, 300, '{}', '[]', 4294967295, 1);
    )sql",
    R"sql(
      UPDATE bisection_finding SET is_gradual = 1;
      UPDATE bisection_effect SET rebuilt_verdict = 'unchanged', rebuilt_before = 10,
        rebuilt_after = 10, rebuilt_pairs = 13, is_doubted = 1;
    )sql",
    R"sql(
      INSERT OR IGNORE INTO series VALUES (7, 'other', 'test_eval[dlrm-cpu-eager]', 'latency');
      INSERT INTO night VALUES (7, 2, 10.5, 10, 11, 2, 'unchanged', 1);
    )sql",
    R"sql(
      INSERT INTO bisection_commit VALUES (1, 0, 'ccc', 'subject', 'author', 100, NULL);
    )sql",
    R"sql(
      INSERT INTO request_key VALUES ('key', 'digest', 1, 200);
    )sql", "",
    R"sql(
      UPDATE bisection_step SET is_unbuilt = 1;
    )sql", "",
    R"sql(
      UPDATE bisection SET build_noise = '{"local":0.02}';
    )sql",
    R"sql(
      UPDATE bisection SET is_told = 1;
    )sql",
    R"sql(
      UPDATE bisection SET is_promised = 1;
    )sql"};

/// The first version with findings. It reshaped these tables, which have tests of their own.
constexpr int with_findings = 10;
std::set<std::string> const reshaped{
    "bisection", "bisection_series", "bisection_step", "bisection_suspect"};

int newest() {
  return static_cast<int>(storage::migrations().size());
}

std::vector<std::string> column(SQLite::Database& database, std::string const& sql) {
  SQLite::Statement query{database, sql};
  std::vector<std::string> values;
  while (query.executeStep())
    values.push_back(query.getColumn(0).getString());
  return values;
}

std::vector<std::string> schema(SQLite::Database& database) {
  return column(database,
                "SELECT type || ' ' || name || ' ' || tbl_name || ' ' || coalesce(sql, '') "
                "FROM sqlite_schema ORDER BY 1");
}

/// Every row of every table, as text.
std::map<std::string, std::vector<std::string>> contents(SQLite::Database& database) {
  std::map<std::string, std::vector<std::string>> rows;
  for (auto const& table :
       column(database, "SELECT name FROM sqlite_schema WHERE type = 'table'")) {
    SQLite::Statement query{database, "SELECT * FROM " + table};
    auto& all = rows[table];
    while (query.executeStep()) {
      std::string row;
      for (int at = 0; at < query.getColumnCount(); ++at) {
        auto const value = query.getColumn(at);
        row += (value.isNull() ? "NULL" : value.getString()) + "|";
      }
      all.push_back(row);
    }
  }
  return rows;
}

int version_of(SQLite::Database& database) {
  return database.execAndGet("PRAGMA user_version").getInt();
}

class MigrationTest : public ::testing::TestWithParam<int> {
 protected:
  SQLite::Database database{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
};

TEST(Migrations, EachVersionHasItsRowsInThisTest) {
  EXPECT_EQ(rows_since.size(), storage::migrations().size());
}

TEST_P(MigrationTest, LosesNoRowOfAnOldDatabase) {
  int const version = GetParam();
  database.exec("PRAGMA foreign_keys = ON");
  for (int at = 0; at < version; ++at) {
    storage::migrate_to(database, at + 1);
    database.exec(rows_since.at(static_cast<std::size_t>(at)));
  }
  auto const before = contents(database);

  storage::migrate(database);

  auto after = contents(database);
  for (auto const& [table, rows] : before) {
    if (version < with_findings && reshaped.contains(table)) continue;
    ASSERT_EQ(after.at(table).size(), rows.size()) << table;
    for (std::size_t at = 0; at < rows.size(); ++at)  // columns may have been added behind
      EXPECT_THAT(after.at(table).at(at), ::testing::StartsWith(rows.at(at))) << table;
  }
  EXPECT_THAT(column(database, "PRAGMA foreign_key_check"), ::testing::IsEmpty());
  EXPECT_THAT(column(database, "PRAGMA integrity_check"), ::testing::ElementsAre("ok"));
}

TEST_P(MigrationTest, EndsWithTheSchemaOfAFreshDatabase) {
  storage::migrate_to(database, GetParam());
  storage::migrate(database);
  SQLite::Database fresh{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
  storage::migrate(fresh);

  EXPECT_EQ(schema(database), schema(fresh));
  EXPECT_EQ(version_of(database), newest());
}

INSTANTIATE_TEST_SUITE_P(FromVersion,
                         MigrationTest,
                         ::testing::Range(0, static_cast<int>(rows_since.size()) + 1));

/// A bisection of the days before findings, with three series of which the second led.
class OldBisectionTest : public ::testing::Test {
 protected:
  OldBisectionTest() {
    storage::migrate_to(database, with_findings - 1);
    database.exec(R"sql(
      INSERT INTO bisection VALUES (7, NULL, 'aaa', 'ddd', 0.125, 'both', 'done', 'culprit', 1,
                                    'regression', 10, 12, 1.2, 1.15, 1.25, 0.001, 6, 'note', 600);
      INSERT INTO bisection_series VALUES
        (7, 0, 'local', 'test_eval[zoo-cpu-eager]', 'latency', 0),
        (7, 1, 'local', 'test_train[dlrm-cpu-eager]', 'latency', 0),
        (7, 2, 'local', 'test_train[zoo-cpu-eager]', 'latency', 0);
      INSERT INTO bisection_step VALUES (7, 0, 'bbb', 'good', '1.00 of the start'),
                                        (7, 1, 'ccc', 'skip', 'exit status 125');
      INSERT INTO bisection_suspect VALUES (7, 0, 'ddd', 'Subject (#12)', 'Ada <a@b>', 700, 12);
      INSERT INTO fingerprint VALUES (1, '{}');
    )sql");
  }

  /// One process of the ends.
  void measure(std::string const& commit, int round, double ms) {
    SQLite::Statement job{database,
                          "INSERT INTO job (campaign, fleet, benchmark, commit_sha, round, "
                          "error_code, error, version, fingerprint_id, seconds, finished_at) "
                          "VALUES ('bisect/7/ends', 'local', 'test_train[zoo-cpu-eager]', ?, ?, "
                          "'', '', '2.9', 1, 1.5, 300)"};
    job.bind(1, commit);
    job.bind(2, round);
    job.exec();
    SQLite::Statement result{
        database,
        "INSERT INTO result (job_id, metric, value, samples) VALUES (?, 'latency', ?, '[]')"};
    result.bind(1, database.getLastInsertRowid());
    result.bind(2, ms);
    result.exec();
  }

  Bisection migrated() {
    storage::migrate(database);
    return storage::Bisections{database}.find(BisectionId{7}).value();
  }

  SQLite::Database database{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
};

TEST_F(OldBisectionTest, IsReadAsItWasAsked) {
  auto const bisection = migrated();

  EXPECT_EQ(bisection.incident, std::nullopt);
  EXPECT_EQ(bisection.request.start.hex, "aaa");
  EXPECT_EQ(bisection.request.end.hex, "ddd");
  EXPECT_EQ(bisection.request.threshold, 0.125);
  EXPECT_EQ(bisection.request.direction, Direction::both);
  EXPECT_EQ(bisection.request.prior, Prior::uniform);
  ASSERT_EQ(bisection.request.series.size(), 3U);
  EXPECT_EQ(bisection.request.series[1], latency_of("dlrm"));
  EXPECT_EQ(bisection.state, BisectionState::done);
  EXPECT_EQ(bisection.outcome, BisectionOutcome::culprit);
  EXPECT_EQ(bisection.failure, "note");
  EXPECT_EQ(bisection.asked_at, Timestamp{std::chrono::seconds{600}});
}

TEST_F(OldBisectionTest, HasItsCulpritAsItsOneFinding) {
  database.exec("UPDATE bisection_series SET explained = 1 WHERE ordinal > 0");
  measure("aaa", 0, 1);
  measure("aaa", 1, 3);
  measure("ddd", 0, 4);

  auto const bisection = migrated();

  ASSERT_EQ(bisection.findings.size(), 1U);
  auto const& [suspects, effects, no_revert_check, is_gradual] = bisection.findings.front();
  ASSERT_EQ(suspects.size(), 1U);
  EXPECT_EQ(suspects[0].sha.hex, "ddd");
  EXPECT_EQ(suspects[0].subject, "Subject (#12)");
  EXPECT_EQ(suspects[0].author, "Ada <a@b>");
  EXPECT_EQ(suspects[0].time, Timestamp{std::chrono::seconds{700}});
  EXPECT_EQ(suspects[0].pull_request, 12);
  ASSERT_EQ(effects.size(), 2U);
  EXPECT_EQ(effects[0].series, latency_of("dlrm"));
  EXPECT_EQ(effects[0].before, 10);
  EXPECT_EQ(effects[0].after, 12);
  EXPECT_EQ(effects[0].probability, 0);
  EXPECT_EQ(effects[0].share, 1);
  ASSERT_TRUE(effects[0].proof);
  expect_same(*effects[0].proof, slower());
  EXPECT_EQ(effects[1].series, latency_of("zoo"));
  EXPECT_EQ(effects[1].before, 2);
  EXPECT_EQ(effects[1].after, 4);
  EXPECT_EQ(effects[1].share, 1);
  EXPECT_FALSE(effects[1].proof);
  EXPECT_TRUE(is_culprit(bisection.findings.front()));
}

TEST_F(OldBisectionTest, ThatEndedWithARangeKeepsItWithTheSeriesThatLed) {
  database.exec(R"sql(
    UPDATE bisection SET outcome = 'range', lead = 2, proof_verdict = NULL, proof_before = NULL,
      proof_after = NULL, proof_ratio = NULL, proof_low = NULL, proof_high = NULL,
      proof_error_bound = NULL, proof_pairs = NULL;
    INSERT INTO bisection_suspect VALUES (7, 1, 'eee', 'Later', 'Bob <b@c>', 800, NULL);
  )sql");
  measure("aaa", 0, 1);
  measure("ddd", 0, 4);

  auto const bisection = migrated();

  ASSERT_EQ(bisection.findings.size(), 1U);
  auto const& [suspects, effects, no_revert_check, is_gradual] = bisection.findings.front();
  ASSERT_EQ(suspects.size(), 2U);
  EXPECT_EQ(suspects[1].sha.hex, "eee");
  ASSERT_EQ(effects.size(), 1U);
  EXPECT_EQ(effects[0].series, latency_of("zoo"));
  EXPECT_EQ(effects[0].before, 1);
  EXPECT_EQ(effects[0].after, 4);
  EXPECT_EQ(effects[0].share, 0);
  EXPECT_FALSE(effects[0].proof);
}

TEST_F(OldBisectionTest, KeepsOfItsStepsThoseThatSkippedACommit) {
  auto const bisection = migrated();

  ASSERT_EQ(bisection.steps.size(), 1U);
  auto const& step = bisection.steps.front();
  EXPECT_TRUE(step.is_done);
  EXPECT_EQ(step.fleet, "local");
  EXPECT_EQ(step.benchmark, latency_of("dlrm").benchmark);
  EXPECT_THAT(step.commits, ::testing::ElementsAre(CommitSha{"ccc"}));
  EXPECT_EQ(step.skipped, CommitSha{"ccc"});
  EXPECT_EQ(step.note, "exit status 125");
  EXPECT_TRUE(step.is_unbuilt);
  EXPECT_THAT(step.readings, ::testing::IsEmpty());
  EXPECT_THAT(step.beliefs, ::testing::IsEmpty());
}

TEST_F(OldBisectionTest, ThatHadNotEndedBeginsAgain) {
  database.exec("UPDATE bisection SET state = 'running', outcome = NULL");
  database.exec("DELETE FROM bisection_suspect");

  auto const bisection = migrated();

  EXPECT_EQ(bisection.state, BisectionState::running);
  EXPECT_THAT(bisection.steps, ::testing::IsEmpty());
  EXPECT_THAT(bisection.findings, ::testing::IsEmpty());
}

TEST(Migrations, ACureIsARevertCheck) {
  SQLite::Database database{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
  storage::migrate_to(database, 16);
  database.exec(R"sql(
    INSERT INTO bisection (id, start_sha, end_sha, threshold, direction, state, asked_at)
    VALUES (1, 'aaa', 'ddd', 0.07, 'increase', 'done', 600);
    INSERT INTO bisection_suspect VALUES (1, 0, 0, 'bbb', 'Subject', 'Ada <a@b>', 700, 12);
    INSERT INTO bisection_finding VALUES (1, 0, 'why not');
    INSERT INTO bisection_effect VALUES (1, 0, 0, 'local', 'test_train[dlrm-cpu-eager]', 'latency',
      10, 12, 0.99, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
      'regression', 10, 12, 1.2, 1.15, 1.25, 0.001, 6);
    INSERT INTO fingerprint VALUES (1, '{}');
    INSERT INTO job (campaign, fleet, benchmark, commit_sha, round, error_code, error, version,
                     fingerprint_id, seconds, finished_at)
    VALUES ('bisect/1/recipe-1/cure/bbb', 'local', 'b', 'aaa', 0, '', '', '2.9', 1, 1.5, 300),
           ('bisect/1/recipe-1/proof/bbb', 'local', 'b', 'aaa', 0, '', '', '2.9', 1, 1.5, 300);
  )sql");

  storage::migrate(database);

  auto const bisection = storage::Bisections{database}.find(BisectionId{1}).value();
  auto const& finding = bisection.findings.at(0);
  EXPECT_EQ(finding.no_revert_check, "why not");
  EXPECT_FALSE(finding.effects.at(0).proof);
  expect_same(finding.effects.at(0).revert_check.value(), slower());
  EXPECT_THAT(
      column(database, "SELECT campaign FROM job ORDER BY id"),
      ::testing::ElementsAre("bisect/1/recipe-1/revert-check/bbb", "bisect/1/recipe-1/proof/bbb"));
}

TEST(Migrations, WhatHadEndedWhenReportsWereFirstAddedToIsLeftAsItIs) {
  SQLite::Database database{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
  storage::migrate_to(database, 31);
  database.exec(R"sql(
    INSERT INTO nightly (id, date, version, commit_sha, release_sha, prefix, state, announced_at)
    VALUES (1, '2026-01-01', '2.9', 'aaa', '', '', 'done', 300),
           (2, '2026-01-02', '2.9', 'bbb', '', '', 'done', 300),
           (3, '2026-01-03', '2.9', 'ccc', '', '', 'bisected', 300);
    INSERT INTO incident (id, baseline_id, nightly_id, report, opened_at)
    VALUES (1, 1, 2, 'reports/1.md', 400), (2, 2, 3, '', 400);
    INSERT INTO bisection (id, incident_id, start_sha, end_sha, threshold, direction, state,
                           asked_at)
    VALUES (1, 1, 'aaa', 'bbb', 0.07, 'increase', 'done', 600),
           (2, 1, 'aaa', 'bbb', 0.07, 'increase', 'paused', 600),
           (3, 2, 'bbb', 'ccc', 0.07, 'increase', 'done', 600);
  )sql");

  storage::migrate(database);

  EXPECT_THAT(column(database, "SELECT id FROM bisection WHERE is_told"),
              ::testing::ElementsAre("1"));
  EXPECT_THAT(column(database, "SELECT id FROM bisection WHERE is_promised"),
              ::testing::ElementsAre("2"))
      << "the report says that it is paused";
}

TEST(Migrations, TheKindOfARecipeIsAColumnOfItsOwn) {
  SQLite::Database database{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
  storage::migrate_to(database, 16);
  database.exec("INSERT INTO recipe VALUES (3, 'artifacts https://ci/{commit}'), (4, 'recipe a')");

  storage::migrate(database);

  storage::Recipes recipes{database};
  EXPECT_EQ(recipes.find(RecipeId{3})->kind, RecipeKind::artifacts);
  EXPECT_EQ(recipes.find(RecipeId{3})->contents, "https://ci/{commit}");
  EXPECT_EQ(recipes.find(RecipeId{4})->kind, RecipeKind::program);
  EXPECT_EQ(recipes.with(RecipeKind::program, "recipe a").id, RecipeId{4});
}

TEST(Migrations, OlderRoundsWereNotDrawn) {
  SQLite::Database database{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
  storage::migrate_to(database, 1);
  database.exec(rows_since.front());

  storage::migrate(database);

  auto const old = storage::Jobs{database}.of({"sweep/1"});
  ASSERT_EQ(old.size(), 1U);
  EXPECT_EQ(old[0].seed, std::nullopt);
  EXPECT_EQ(old[0].place, std::nullopt);
}

TEST(Migrations, TheNewestDatabaseIsLeftAlone) {
  SQLite::Database database{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
  storage::migrate(database);
  auto const before = schema(database);

  storage::migrate(database);

  EXPECT_EQ(schema(database), before);
}

TEST(Migrations, AStepThatFailsLeavesTheDatabaseAsItWas) {
  SQLite::Database database{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
  storage::migrate_to(database, 1);
  database.exec("CREATE TABLE incident (in_the_way)");

  EXPECT_THROW(storage::migrate(database), SQLite::Exception);

  EXPECT_EQ(version_of(database), 1);
  EXPECT_THAT(column(database, "SELECT name FROM sqlite_schema WHERE name = 'comparison'"),
              ::testing::IsEmpty());
}

TEST(Migrations, ALateStepThatFailsUndoesTheEarlierOnes) {
  SQLite::Database database{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
  storage::migrate_to(database, 1);
  database.exec("CREATE TABLE kept_build (in_the_way)");
  auto const before = schema(database);

  EXPECT_THROW(storage::migrate(database), SQLite::Exception);

  EXPECT_EQ(version_of(database), 1);
  EXPECT_EQ(schema(database), before);
}

TEST(Migrations, ANewerDatabaseIsRefusedAndLeftAlone) {
  TemporaryFolder const folder;
  auto const ahead = newest() + 1;
  {
    SQLite::Database database{folder.database().string(),
                              SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
    database.exec("PRAGMA application_id = " + std::to_string(storage::application_id));
    database.exec("PRAGMA user_version = " + std::to_string(ahead));
  }

  auto const store = Store::open(folder.database());

  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::refused);
  EXPECT_THAT(store.error().message,
              ::testing::AllOf(::testing::HasSubstr(folder.database().string()),
                               ::testing::HasSubstr("version " + std::to_string(ahead))));
  SQLite::Database database{folder.database().string()};
  EXPECT_EQ(version_of(database), ahead);
  EXPECT_THAT(schema(database), ::testing::IsEmpty());
}

}  // namespace
}  // namespace torchwatch::tests
