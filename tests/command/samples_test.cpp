#include "runner/command/samples.h"

#include <vector>

#include <gtest/gtest.h>

namespace torchwatch::command {
namespace {

Wanted wanted_with_exact() {
  Wanted wanted;
  wanted.required = wanted.allowed = {"latency", "kernels"};
  wanted.exact = {"kernels"};
  return wanted;
}

TEST(CommandSamples, HaveTheMedianAsTheirValue) {
  Samples samples{wanted_with_exact(), 3};
  for (double const latency : {5.0, 1.0, 2.0})
    ASSERT_TRUE(samples.add({{"latency", latency}, {"kernels", 14}}).has_value());

  auto const latency = samples.values().at("latency");
  EXPECT_EQ(latency.value, 2);
  EXPECT_EQ(latency.samples, (std::vector<double>{5, 1, 2}));
  EXPECT_EQ(latency.outliers, (std::vector<int>{}));
}

TEST(CommandSamples, NameTheirOutliers) {
  Samples samples{wanted_with_exact(), 5};
  for (double const latency : {1.0, 1.0, 90.0, 1.0, 1.0})
    ASSERT_TRUE(samples.add({{"latency", latency}}).has_value());

  EXPECT_EQ(samples.values().at("latency").outliers, (std::vector<int>{2}));
}

TEST(CommandSamples, OfAnExactMetricAreOne) {
  Samples samples{wanted_with_exact(), 2};
  ASSERT_TRUE(samples.add({{"kernels", 14}}).has_value());
  ASSERT_TRUE(samples.add({{"kernels", 14}}).has_value());

  EXPECT_EQ(samples.values().at("kernels").samples, (std::vector<double>{14}));
}

TEST(CommandSamples, OfAnExactMetricMustAgree) {
  Samples samples{wanted_with_exact(), 1};
  ASSERT_TRUE(samples.add({{"kernels", 14}}).has_value());

  auto const differing = samples.add({{"kernels", 25.5}});

  ASSERT_FALSE(differing.has_value());
  EXPECT_EQ(differing.error().message,
            "metric kernels is exact, but has two values: 14.0 and 25.5; let it repeat, or declare "
            "it with \"kind\": \"noisy\"");
}

TEST(CommandSamples, AreCompleteWhenEachRequiredMetricHasAll) {
  Samples samples{wanted_with_exact(), 2};
  EXPECT_FALSE(samples.is_complete());
  for (int run = 0; run < 2; ++run)
    ASSERT_TRUE(samples.add({{"latency", 1}}).has_value());
  EXPECT_FALSE(samples.is_complete()) << "kernels is missing";
  ASSERT_TRUE(samples.add({{"kernels", 14}}).has_value());
  EXPECT_EQ(samples.count(), 1U);
  ASSERT_TRUE(samples.add({{"kernels", 14}}).has_value());
  EXPECT_TRUE(samples.is_complete());
}

TEST(CommandSamples, AreAtMostAsManyAsRuns) {
  Samples samples{wanted_with_exact(), 2};
  for (double const latency : {1.0, 2.0, 3.0})
    ASSERT_TRUE(samples.add({{"latency", latency}}).has_value());

  EXPECT_EQ(samples.values().at("latency").samples, (std::vector<double>{1, 2}));
}

}  // namespace
}  // namespace torchwatch::command
