#include "bisect/search/scale.h"

#include <cmath>

#include <gtest/gtest.h>

namespace torchwatch::bisect {
namespace {

TEST(Scale, IsALogarithmForTimesAndMemory) {
  for (auto const metric : {Metric::latency, Metric::cmem, Metric::gmem}) {
    Scale const scale{metric, 0.07, {}};
    EXPECT_NEAR(scale.level(2.2e6) - scale.level(2e6), std::log(1.1), 1e-12);
    EXPECT_NEAR(scale.value(scale.level(2.2e6)), 2.2e6, 1e-6);
  }
}

TEST(Scale, CountsNoMemoryAsOnePage) {
  for (auto const metric : {Metric::cmem, Metric::gmem}) {
    Scale const scale{metric, 0.07, {}};
    EXPECT_DOUBLE_EQ(scale.level(0), std::log(4096));
    EXPECT_TRUE(std::isnan(scale.level(-1)));
  }
}

TEST(Scale, HasAFiniteLevelForACountOfZero) {
  EXPECT_TRUE(std::isfinite(Scale(Metric::latency, 0.07, {}).level(0)));
}

TEST(Scale, TheSmallestReportedLeakHasTheLengthOfTheThreshold) {
  config::DecideOptions options;
  options.leak_floor_bytes = 512;
  Scale const scale{Metric::leak, 0.07, options};
  EXPECT_EQ(scale.level(0), 0);
  EXPECT_DOUBLE_EQ(scale.level(512), std::log(1.07));
  EXPECT_DOUBLE_EQ(scale.value(scale.level(-100)), -100);
}

TEST(Scale, MeasuresLeaksInBytesIfThereIsNoFloor) {
  config::DecideOptions options;
  options.leak_floor_bytes = 0;
  Scale const scale{Metric::leak, 0.07, options};
  EXPECT_EQ(scale.level(0), 0);
  EXPECT_DOUBLE_EQ(scale.level(1), std::log(1.07));
  EXPECT_DOUBLE_EQ(scale.value(scale.level(-100)), -100);
}

TEST(Scale, ExpectsLittleNoiseWhereValuesRepeat) {
  Scale const memory{Metric::cmem, 0.07, {}};
  Scale const time{Metric::latency, 0.07, {}};
  EXPECT_LT(memory.expectation(Direction::increase).noise,
            time.expectation(Direction::increase).noise / 10);
  EXPECT_LT(time.expectation(Direction::increase).least, std::log(1.07));
  EXPECT_GT(time.rest(0.1).no_change, time.expectation(Direction::increase).no_change);
}

TEST(Scale, LooksForARestThatMatters) {
  Scale const scale{Metric::latency, 0.07, {}};
  double const threshold = std::log(1.07);
  EXPECT_DOUBLE_EQ(scale.rest(0.1).least, threshold / 2);
  EXPECT_DOUBLE_EQ(scale.rest(-0.2).least, 0.05);
  EXPECT_DOUBLE_EQ(scale.rest(2.3).least, threshold);
}

}  // namespace
}  // namespace torchwatch::bisect
