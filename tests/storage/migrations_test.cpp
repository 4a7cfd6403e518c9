#include "storage/migrations.h"

#include <array>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/soundness.h"
#include "storage/store.h"
#include "tests/storage/samples.h"

namespace torchwatch::tests {
namespace {

using storage::Migrations;
using storage::Store;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

/// A made-up program whose third version replaces a table that another one refers to.
constexpr std::string_view first_schema = R"sql(
CREATE TABLE fleet (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
CREATE TABLE slot (fleet_id INTEGER NOT NULL REFERENCES fleet(id)) STRICT;
)sql";
constexpr std::string_view adds_a_column =
    "ALTER TABLE slot ADD COLUMN gpu INTEGER NOT NULL DEFAULT 0";
constexpr std::string_view replaces_a_table = R"sql(
CREATE TABLE new_fleet (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO new_fleet SELECT id, name FROM fleet;
DROP TABLE fleet;
ALTER TABLE new_fleet RENAME TO fleet;
)sql";
constexpr std::string_view loses_rows = "DELETE FROM fleet";
constexpr std::string_view does_not_apply = "ALTER TABLE nowhere ADD COLUMN x";

class MigrationsTest : public ::testing::Test {
 protected:
  MigrationsTest() { database.exec("PRAGMA foreign_keys = ON"); }

  void migrate(std::vector<std::string_view> const& steps) {
    storage::migrate(database, Migrations{first_schema, steps});
  }

  void add_a_fleet() {
    database.exec("INSERT INTO fleet VALUES (1, 'local'); INSERT INTO slot (fleet_id) VALUES (1)");
  }

  int version() { return database.execAndGet("PRAGMA user_version").getInt(); }

  std::vector<std::string> texts(std::string const& query) {
    SQLite::Statement rows{database, query};
    std::vector<std::string> found;
    while (rows.executeStep())
      found.push_back(rows.getColumn(0).getString());
    return found;
  }

  std::vector<std::string> schema() {
    return texts("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name");
  }

  SQLite::Database database{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
};

TEST_F(MigrationsTest, EmptyDatabase_GetsTheSchemaAndAllSteps) {
  migrate({adds_a_column, replaces_a_table});

  EXPECT_EQ(version(), 3);
  EXPECT_THAT(texts("SELECT name FROM pragma_table_info('slot')"), ElementsAre("fleet_id", "gpu"));
}

TEST_F(MigrationsTest, OlderDatabase_KeepsItsRowsAndBecomesWhatAFreshOneIs) {
  migrate({});
  add_a_fleet();

  migrate({adds_a_column, replaces_a_table});

  EXPECT_EQ(version(), 3);
  EXPECT_THAT(texts("SELECT name FROM fleet JOIN slot ON fleet_id = id WHERE gpu = 0"),
              ElementsAre("local"));
  auto const migrated = schema();
  database = SQLite::Database{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
  migrate({adds_a_column, replaces_a_table});
  EXPECT_EQ(migrated, schema());
}

TEST_F(MigrationsTest, NewestDatabase_IsLeftAlone) {
  migrate({adds_a_column});
  auto const before = schema();

  migrate({adds_a_column});

  EXPECT_EQ(schema(), before);
}

TEST_F(MigrationsTest, ForeignKeys_AreCheckedAgainAfterwards) {
  migrate({replaces_a_table});

  EXPECT_THROW(database.exec("INSERT INTO slot (fleet_id) VALUES (7)"), SQLite::Exception);
}

TEST_F(MigrationsTest, LaterStepThatDoesNotApply_UndoesTheEarlierOnes) {
  migrate({});
  auto const before = schema();

  EXPECT_THROW(migrate({adds_a_column, does_not_apply}), SQLite::Exception);

  EXPECT_EQ(version(), 1);
  EXPECT_EQ(schema(), before);
}

TEST_F(MigrationsTest, StepThatLosesRowsOthersReferTo_IsUndone) {
  migrate({});
  add_a_fleet();

  EXPECT_THAT([this] { migrate({loses_rows}); },
              ThrowsMessage<std::runtime_error>("migration to version 2 loses rows of fleet"));

  EXPECT_EQ(version(), 1);
  EXPECT_THAT(texts("SELECT name FROM fleet"), ElementsAre("local"));
}

TEST_F(MigrationsTest, NewerDatabase_Throws) {
  migrate({adds_a_column});

  EXPECT_THAT(
      [this] { migrate({}); },
      ThrowsMessage<std::runtime_error>(AllOf(HasSubstr("version 2"), HasSubstr("up to 1"))));
}

TEST(Schema, EveryTable_HasAComment) {
  SQLite::Database database{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
  storage::migrate(database, storage::migrations());

  // As SQLite keeps it, a table's text begins with CREATE; the comment before it is in the file.
  auto const file = std::string{storage::migrations().schema};
  SQLite::Statement tables{
      database, "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL"};
  while (tables.executeStep()) {
    auto const at = file.find("CREATE TABLE " + tables.getColumn(0).getString() + " (");
    ASSERT_NE(at, std::string::npos) << tables.getColumn(0).getString();
    auto const line_before = file.rfind('\n', at - 2) + 1;
    EXPECT_EQ(file.compare(line_before, 3, "-- "), 0) << tables.getColumn(0).getString();
  }
}

TEST(StoreOfANewerProgram, IsRefusedAndLeftAlone) {
  TemporaryFolder const folder;
  int const ahead = storage::migrations().newest() + 1;
  {
    SQLite::Database database{folder.database().string(),
                              SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
    database.exec("PRAGMA application_id = " + std::to_string(storage::application_id));
    database.exec("PRAGMA user_version = " + std::to_string(ahead));
  }

  auto const store = Store::open(folder.database());

  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::refused);
  EXPECT_THAT(
      store.error().message,
      AllOf(HasSubstr(folder.database().string()), HasSubstr("version " + std::to_string(ahead))));
  SQLite::Database database{folder.database().string()};
  EXPECT_EQ(database.execAndGet("PRAGMA user_version").getInt(), ahead);
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM sqlite_schema").getInt(), 0);
}

}  // namespace
}  // namespace torchwatch::tests
