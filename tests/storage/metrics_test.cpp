#include "storage/metrics.h"

#include <filesystem>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include "storage/domain/metric.h"
#include "tests/storage/tables.h"

namespace torchwatch::tests {
namespace {

using storage::Store;
using ::testing::HasSubstr;

class MetricsTest : public ::testing::Test {
 protected:
  Result<Store> open() { return Store::open(folder.database()); }

  /// Writes a row as another run of the program would.
  void store_row(std::string const& name, std::string const& values) {
    ASSERT_TRUE(open());
    std::filesystem::remove(folder.database().string() + ".seal");  // the file changes here
    SQLite::Database database{folder.database().string(), SQLite::OPEN_READWRITE};
    database.exec("INSERT OR REPLACE INTO metric VALUES ('" + name + "', " + values + ")");
  }

  std::string stored_unit(std::string const& name) {
    SQLite::Database database{folder.database().string(), SQLite::OPEN_READONLY};
    SQLite::Statement query{database, "SELECT unit FROM metric WHERE name = '" + name + "'"};
    return query.executeStep() ? query.getColumn(0).getString() : "none";
  }

  TemporaryFolder folder;
};

TEST_F(MetricsTest, StoredMetricOfARemovedSuiteIsDeclaredByWriterAndReader) {
  store_row("test_removed", "'1/s', 1, 0, 0.2, 3");
  ASSERT_FALSE(parse_metric("test_removed"));

  ASSERT_TRUE(open());

  MetricKind const kind{
      .unit = "1/s", .is_higher_better = true, .is_exact = false, .threshold = 0.2, .floor = 3};
  ASSERT_TRUE(parse_metric("test_removed"));
  EXPECT_EQ(parse_metric("test_removed")->kind(), kind);

  store_row("test_removed_too", "'s', 0, 0, 0, 0");
  ASSERT_TRUE(Store::open_reader(folder.database()));
  EXPECT_TRUE(parse_metric("test_removed_too"));
}

TEST_F(MetricsTest, DeclarationsOfTheConfigurationAreStoredWithoutTheNativeOnes) {
  ASSERT_TRUE(declare_metric("test_stored", MetricKind{.unit = "ms"}));
  ASSERT_TRUE(open());
  EXPECT_EQ(stored_unit("test_stored"), "ms");
  EXPECT_EQ(stored_unit("latency"), "none");
}

TEST_F(MetricsTest, ConfiguredThresholdReplacesTheStoredOne) {
  ASSERT_TRUE(declare_metric("test_changed", MetricKind{.unit = "ms", .threshold = 0.3}));
  store_row("test_changed", "'ms', 0, 0, 0.1, 0");
  ASSERT_TRUE(open());
  EXPECT_EQ(parse_metric("test_changed")->kind().threshold, 0.3);
}

TEST_F(MetricsTest, AnotherUnitOrDirectionThanTheStoredOneIsAnErrorThatNamesBoth) {
  ASSERT_TRUE(declare_metric("test_redefined", MetricKind{.unit = "s"}));
  for (auto const* const stored : {"'ms', 0, 0, 0, 0", "'s', 1, 0, 0, 0"}) {
    store_row("test_redefined", stored);
    for (auto const& error : {open().error(), Store::open_reader(folder.database()).error()}) {
      EXPECT_EQ(error.code, ErrorCode::invalid_argument);
      EXPECT_THAT(error.message,
                  HasSubstr("metric test_redefined: found s, lower is better in the configuration, "
                            "allowed is "));
      EXPECT_THAT(error.message, HasSubstr("as in the database; give the new metric another name"));
    }
    SQLite::Database database{folder.database().string(), SQLite::OPEN_READWRITE};
    database.exec("DELETE FROM metric WHERE name = 'test_redefined'");
  }
}

}  // namespace
}  // namespace torchwatch::tests
