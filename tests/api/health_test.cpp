#include "daemon/api/health.h"

#include <gmock/gmock.h>

namespace torchwatch::api {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class HealthTest : public ::testing::Test {
 protected:
  static HealthState good() {
    HealthState health;
    health.heartbeat = HealthState::Instant{1000s};
    health.free_bytes = std::int64_t{10} << 30;
    return health;
  }
};

TEST_F(HealthTest, IsGoodWhileLoopRunsAndBeforeItsStart) {
  EXPECT_THAT(troubles_of(good(), HealthState::Instant{1030s}), IsEmpty());
  EXPECT_THAT(troubles_of(HealthState{}, HealthState::Instant{1030s}), IsEmpty())
      << "before the first heartbeat";
}

TEST_F(HealthTest, FailsWithinAMinuteOfBlockedLoop) {
  EXPECT_THAT(troubles_of(good(), HealthState::Instant{1055s}),
              ElementsAre("the watch loop has been blocked for 55 s, allowed are 40 s"));
}

TEST_F(HealthTest, FailsAfterThreeFailedPasses) {
  auto health = good();
  health.failed_passes = 2;
  health.failure = "the index does not answer";
  EXPECT_THAT(troubles_of(health, *health.heartbeat), IsEmpty());
  health.failed_passes = 3;
  EXPECT_THAT(troubles_of(health, *health.heartbeat),
              ElementsAre("3 passes in a row failed: the index does not answer"));
}

TEST_F(HealthTest, FailsWithDamagedDatabase) {
  auto health = good();
  health.store_damage = "torchwatch.sqlite: damaged: row 5 missing from index x; restore a backup";
  EXPECT_THAT(troubles_of(health, *health.heartbeat), ElementsAre(health.store_damage));
}

TEST_F(HealthTest, FailsOnFullDisk) {
  auto health = good();
  health.free_bytes = 1 << 20;
  health.store_trouble = "database or disk is full";
  EXPECT_THAT(troubles_of(health, *health.heartbeat),
              ElementsAre("nothing can be stored: database or disk is full",
                          "the disk of state_dir is full: 1 MiB are free, 64 are needed"));
}

}  // namespace
}  // namespace torchwatch::api
