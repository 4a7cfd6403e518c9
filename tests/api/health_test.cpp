#include "daemon/api/health.h"

#include <gmock/gmock.h>

namespace torchwatch::api {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class HealthTest : public ::testing::Test {
 protected:
  static Vitals good() {
    Vitals vitals;
    vitals.heartbeat = Vitals::Instant{1000s};
    vitals.free_bytes = std::int64_t{10} << 30;
    return vitals;
  }
};

TEST_F(HealthTest, IsGoodWhileTheLoopTurns) {
  EXPECT_THAT(troubles_of(good(), Vitals::Instant{1030s}), IsEmpty());
  EXPECT_THAT(troubles_of(Vitals{}, Vitals::Instant{1030s}), IsEmpty()) << "it only starts";
}

TEST_F(HealthTest, EndsWithinAMinuteOfABlockedLoop) {
  EXPECT_THAT(troubles_of(good(), Vitals::Instant{1055s}),
              ElementsAre("the watching loop has been blocked for 55 s"));
}

TEST_F(HealthTest, EndsAfterThreeFailedPasses) {
  auto vitals = good();
  vitals.failed_passes = 2;
  vitals.failure = "the index does not answer";
  EXPECT_THAT(troubles_of(vitals, *vitals.heartbeat), IsEmpty());
  vitals.failed_passes = 3;
  EXPECT_THAT(troubles_of(vitals, *vitals.heartbeat),
              ElementsAre("3 passes in a row failed: the index does not answer"));
}

TEST_F(HealthTest, EndsWithADamagedDatabase) {
  auto vitals = good();
  vitals.store_damage = "torchwatch.sqlite: damaged: row 5 missing from index x; restore a backup";
  EXPECT_THAT(troubles_of(vitals, *vitals.heartbeat), ElementsAre(vitals.store_damage));
}

TEST_F(HealthTest, EndsOnAFullDisk) {
  auto vitals = good();
  vitals.free_bytes = 1 << 20;
  vitals.store_trouble = "database or disk is full";
  EXPECT_THAT(troubles_of(vitals, *vitals.heartbeat),
              ElementsAre("nothing can be stored: database or disk is full",
                          "the disk of state_dir is full: 1 MiB are free, needed are 64"));
}

}  // namespace
}  // namespace torchwatch::api
