#include "storage/database.h"

#include <string>

#include <gtest/gtest.h>

#include "storage/rows.h"

namespace torchwatch::storage {
namespace {

class DatabaseTest : public testing::Test {
 protected:
  DatabaseTest() {
    database_.exec("CREATE TABLE number (value INTEGER); INSERT INTO number VALUES (1), (2)");
  }

  std::string read(std::string const& sql) {
    Statement query{database_, sql};
    return query.executeStep() ? query.getColumn(0).getString() : "no row";
  }

  Database database_{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
};

constexpr auto all_numbers = "SELECT value FROM number ORDER BY value";

TEST_F(DatabaseTest, TwoStatementsOfOneTextHaveTheirOwnRows) {
  Statement outer{database_, all_numbers};
  EXPECT_TRUE(outer.executeStep());
  EXPECT_EQ(read(all_numbers), "1");
  EXPECT_TRUE(outer.executeStep());
  EXPECT_EQ(outer.getColumn(0).getInt(), 2);
}

TEST_F(DatabaseTest, AStatementBeginsAtTheFirstRowEachTime) {
  EXPECT_EQ(read(all_numbers), "1");
  EXPECT_EQ(read(all_numbers), "1");
}

TEST_F(DatabaseTest, AStatementHasNoValuesOfAnEarlierUse) {
  constexpr auto echo = "SELECT ifnull(?, 'nothing')";
  {
    Statement query{database_, echo};
    bind_all(query, std::string{"something"});
    EXPECT_TRUE(query.executeStep());
  }
  EXPECT_EQ(read(echo), "nothing");
}

TEST_F(DatabaseTest, AStatementReadHalfwayHoldsNoLockAfterItsScope) {
  EXPECT_EQ(read(all_numbers), "1");
  database_.exec("DROP TABLE number");  // fails while a statement reads it
  EXPECT_THROW(read(all_numbers), SQLite::Exception);
}

TEST_F(DatabaseTest, AStatementReadsAChangedSchema) {
  EXPECT_EQ(read("SELECT * FROM number"), "1");
  database_.exec("DROP TABLE number; CREATE TABLE number (value TEXT)");
  database_.exec("INSERT INTO number VALUES ('one')");
  EXPECT_EQ(read("SELECT * FROM number"), "one");
}

TEST_F(DatabaseTest, AFailedStatementCanBeUsedAgain) {
  database_.exec("CREATE UNIQUE INDEX once ON number (value)");
  for (int time = 0; time < 2; ++time) {
    Statement insert{database_, "INSERT INTO number VALUES (1)"};
    EXPECT_THROW(insert.exec(), SQLite::Exception);
  }
  Statement insert{database_, "INSERT INTO number VALUES (?)"};
  bind_all(insert, 3);
  EXPECT_EQ(insert.exec(), 1);
}

}  // namespace
}  // namespace torchwatch::storage
