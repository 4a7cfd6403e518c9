#include "bisect/environment.h"

#include "usual.h"
#include <gtest/gtest.h>

namespace torchwatch::bisect {
namespace {

Remeasured remeasured_latency(double then, double now) {
  return {Metric::latency, {then, then * 1.01, then * 0.99}, {now, now * 1.01, now * 0.99}};
}

TEST(Environment, IsTheSameWhereHardlyAnythingMoved) {
  std::vector<Remeasured> const series{
      remeasured_latency(10, 10.5), remeasured_latency(20, 19), remeasured_latency(30, 45)};
  EXPECT_TRUE(environment_shifts(series, usual_options).empty())
      << "one series may have its own reasons";
  EXPECT_TRUE(environment_shifts({}, usual_options).empty());
}

TEST(Environment, MovedWhereHalfOfTheSeriesDid) {
  std::vector<Remeasured> const series{remeasured_latency(10, 12),
                                       remeasured_latency(20, 24),
                                       remeasured_latency(30, 31),
                                       remeasured_latency(40, 60)};
  auto const shifts = environment_shifts(series, usual_options);
  ASSERT_EQ(shifts.size(), 1U);
  EXPECT_EQ(shifts[0].metric, Metric::latency);
  EXPECT_EQ(shifts[0].series, 4U);
  EXPECT_EQ(shifts[0].shifted, 3U);
  EXPECT_NEAR(shifts[0].ratio, 1.2, 1e-9);
}

TEST(Environment, MayBeFasterToo) {
  auto const shifts = environment_shifts(std::vector{remeasured_latency(10, 8)}, usual_options);
  ASSERT_EQ(shifts.size(), 1U);
  EXPECT_NEAR(shifts[0].ratio, 0.8, 1e-9);
}

TEST(Environment, OfOneMetricIsNotOutvotedByAnother) {
  std::vector<Remeasured> const series{remeasured_latency(10, 10),
                                       remeasured_latency(20, 20),
                                       {Metric::cmem, {100 * mib}, {150 * mib}},
                                       {Metric::leak, {0}, {0}}};
  auto const shifts = environment_shifts(series, usual_options);
  ASSERT_EQ(shifts.size(), 1U);
  EXPECT_EQ(shifts[0].metric, Metric::cmem);
  EXPECT_EQ(shifts[0].ratio, 1.5);
}

}  // namespace
}  // namespace torchwatch::bisect
