#include "storage/migrations.h"

#include <map>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/store.h"
#include "tests/storage/samples.h"

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
    )sql"};

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
    ASSERT_EQ(after.at(table).size(), rows.size()) << table;
    for (std::size_t at = 0; at < rows.size(); ++at)  // columns may have been added behind
      EXPECT_THAT(after.at(table).at(at), ::testing::StartsWith(rows.at(at))) << table;
  }
  EXPECT_THAT(column(database, "PRAGMA foreign_key_check"), ::testing::IsEmpty());
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

TEST(Migrations, TheNewestDatabaseIsLeftAlone) {
  SQLite::Database database{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
  storage::migrate(database);
  auto const before = schema(database);

  storage::migrate(database);

  EXPECT_EQ(schema(database), before);
}

TEST(Migrations, AStepThatFailsLeavesTheVersionBefore) {
  SQLite::Database database{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
  storage::migrate_to(database, 1);
  database.exec("CREATE TABLE incident (in_the_way)");

  EXPECT_THROW(storage::migrate(database), SQLite::Exception);

  EXPECT_EQ(version_of(database), 1);
  EXPECT_THAT(column(database, "SELECT name FROM sqlite_schema WHERE name = 'comparison'"),
              ::testing::IsEmpty());
}

TEST(Migrations, ANewerDatabaseIsRefusedAndLeftAlone) {
  TemporaryFolder const folder;
  auto const ahead = newest() + 1;
  {
    SQLite::Database database{folder.database().string(),
                              SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
    database.exec("PRAGMA user_version = " + std::to_string(ahead));
  }

  auto const store = Store::open(folder.database());

  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::corrupt);
  EXPECT_THAT(store.error().message,
              ::testing::AllOf(::testing::HasSubstr(folder.database().string()),
                               ::testing::HasSubstr("version " + std::to_string(ahead))));
  SQLite::Database database{folder.database().string()};
  EXPECT_EQ(version_of(database), ahead);
  EXPECT_THAT(schema(database), ::testing::IsEmpty());
}

}  // namespace
}  // namespace torchwatch::tests
