#include "storage/alarms.h"

#include <gtest/gtest.h>

#include "tests/storage/tables.h"

namespace torchwatch::tests {
namespace {

using AlarmsTest = TablesTest;
Timestamp const late = early + std::chrono::hours{5};

TEST_F(AlarmsTest, AreRaisedOnceUntilCleared) {
  auto alarms = store.alarms();
  EXPECT_TRUE(alarms.raise(AlarmKind::environment, "local", "kernel", early));
  EXPECT_FALSE(alarms.raise(AlarmKind::environment, "local", "kernel and driver", late));
  EXPECT_TRUE(alarms.raise(AlarmKind::environment, "gpu", "driver", late));
  ASSERT_EQ(alarms.open().size(), 2U);
  EXPECT_EQ(alarms.open().front().detail, "kernel and driver") << "what is wrong now";
  EXPECT_EQ(alarms.open().front().raised_at, early);

  EXPECT_TRUE(alarms.clear(AlarmKind::environment, "local", late));
  EXPECT_FALSE(alarms.clear(AlarmKind::environment, "local", late));
  EXPECT_FALSE(alarms.clear(AlarmKind::stale_baseline, "gpu", late));

  ASSERT_EQ(alarms.open().size(), 1U);
  EXPECT_EQ(alarms.open().front().subject, "gpu");
  EXPECT_TRUE(alarms.raise(AlarmKind::environment, "local", "again", late));
  EXPECT_EQ(alarms.all().size(), 3U);
}

TEST_F(AlarmsTest, AreReadAsTheyWereWritten) {
  auto alarms = store.alarms();
  alarms.raise(AlarmKind::benchmark_stopped, "local: x", "crashed", early);
  alarms.clear(AlarmKind::benchmark_stopped, "local: x", late);

  auto const read = alarms.find(AlarmId{1}).value();

  EXPECT_EQ(read.kind, AlarmKind::benchmark_stopped);
  EXPECT_EQ(read.subject, "local: x");
  EXPECT_EQ(read.detail, "crashed");
  EXPECT_EQ(read.raised_at, early);
  EXPECT_EQ(read.cleared_at, late);
  EXPECT_FALSE(alarms.find(AlarmId{2}));
}

}  // namespace
}  // namespace torchwatch::tests
