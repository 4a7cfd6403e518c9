#include "bisect/compare/cost.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "bisect/compare/compare.h"
#include "bisect/compare/screen.h"
#include "bisect/search/scale.h"

namespace torchwatch::bisect {
namespace {

Metric seconds_per_token() {
  return declare_metric("test_seconds_per_token", MetricKind{.unit = "s"}).value();
}

Metric tokens_per_second() {
  MetricKind const kind{.unit = "1/s", .is_higher_better = true};
  return declare_metric("test_tokens_per_second", kind).value();
}

/// Pairs of a lower-is-better metric whose second build is `ratio` times the first, and noisy.
std::vector<Pair> noisy_pairs(std::uint64_t seed, double ratio, double noise) {
  std::mt19937_64 random{seed};
  std::lognormal_distribution<double> one{0, noise};
  std::vector<Pair> pairs;
  for (int i = 0; i < 60; ++i)
    pairs.push_back({0.02 * one(random), 0.02 * ratio * one(random)});
  return pairs;
}

std::vector<Pair> reciprocals(std::vector<Pair> pairs) {
  for (auto& [before, after] : pairs) {
    before = 1 / before;
    after = 1 / after;
  }
  return pairs;
}

Comparison judged(Metric metric, std::vector<Pair> const& pairs) {
  Compare compare{metric, {}};
  for (auto const& pair : pairs) {
    compare.add(pair);
    if (auto const answer = compare.answer()) return *answer;
  }
  return {};
}

class CostTest : public testing::TestWithParam<double> {};

TEST_P(CostTest, JudgingValuesEqualsJudgingReciprocalsInTheOtherDirection) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto const pairs = noisy_pairs(seed, GetParam(), 0.01 + 0.005 * static_cast<double>(seed % 5));
    auto const times = judged(seconds_per_token(), pairs);
    auto const rates = judged(tokens_per_second(), reciprocals(pairs));
    EXPECT_EQ(times.verdict, rates.verdict) << seed;
    EXPECT_EQ(times.pairs, rates.pairs) << seed;
    EXPECT_NEAR(times.before * rates.before, 1, 1e-9);
    EXPECT_NEAR(times.after * rates.after, 1, 1e-9);
    ASSERT_EQ(times.ratio.has_value(), rates.ratio.has_value());
    if (!times.ratio) continue;
    EXPECT_NEAR(times.ratio->ratio * rates.ratio->ratio, 1, 1e-9);
    EXPECT_NEAR(times.ratio->low * rates.ratio->high, 1, 1e-9);
    EXPECT_NEAR(times.ratio->high * rates.ratio->low, 1, 1e-9);
  }
}

TEST_P(CostTest, ScreeningValuesEqualsScreeningReciprocalsInTheOtherDirection) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto const pairs = noisy_pairs(seed, GetParam(), 0.02);
    std::vector<Pair> const tonight{pairs.begin(), pairs.begin() + 2};
    std::vector<Pair> const night{pairs.begin() + 2, pairs.begin() + 6};
    std::vector<SweepSeries> const times{{seconds_per_token(), tonight, {night, night}}};
    std::vector<SweepSeries> const rates{
        {tokens_per_second(), reciprocals(tonight), {reciprocals(night), reciprocals(night)}}};
    EXPECT_EQ(may_have_grown(times, {}), may_have_grown(rates, {})) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Ratios, CostTest, testing::Values(0.8, 0.95, 1, 1.05, 1.1, 1.3));

TEST(Cost, DropOfAThroughputIsARegressionAndARiseAnImprovement) {
  auto const drop = judged(tokens_per_second(), reciprocals(noisy_pairs(1, 1 / 0.9, 0.01)));
  EXPECT_EQ(drop.verdict, Verdict::regression);
  EXPECT_NEAR(drop.before, 50, 1);
  EXPECT_NEAR(drop.ratio->ratio, 0.9, 0.01);
  EXPECT_LE(drop.ratio->high, 1);
  auto const rise = judged(tokens_per_second(), reciprocals(noisy_pairs(1, 1 / 1.1, 0.01)));
  EXPECT_EQ(rise.verdict, Verdict::improvement);
  EXPECT_NEAR(rise.ratio->ratio, 1.1, 0.011);
}

TEST(Cost, FloorOfAThroughputIsInItsUnit) {
  auto const metric =
      declare_metric("test_floored",
                     MetricKind{.unit = "1/s", .is_higher_better = true, .floor = 10})
          .value();
  EXPECT_NEAR(1 / (1 / 50.0 + tolerance(1 / 50.0, metric, {})), 40, 1e-9);
  EXPECT_TRUE(std::isinf(tolerance(1 / 5.0, metric, {}))) << "it cannot fall by 10";
  EXPECT_NEAR(tolerance(1 / 1000.0, metric, {}), 0.07 / 1000, 1e-12) << "7% are more";
}

TEST(Cost, ThresholdOfAMetricReplacesThatOfTheOptions) {
  auto const metric =
      declare_metric("test_compile", MetricKind{.unit = "s", .threshold = 0.15}).value();
  EXPECT_NEAR(tolerance(10, metric, {}), 1.5, 1e-12);
  EXPECT_NEAR(tolerance(10, seconds_per_token(), {}), 0.7, 1e-12);
  EXPECT_NEAR(Scale(metric, 0.07, {}).threshold(), std::log(1.15), 1e-12);
}

TEST(Cost, LevelOfZeroIsFiniteAndBelowAllOthers) {
  MetricKind const kind{.unit = "1", .is_exact = true};
  Scale const scale{declare_metric("test_graph_breaks", kind).value(), 0.07, {}};
  EXPECT_TRUE(std::isfinite(scale.level(0)));
  EXPECT_LT(scale.level(0), scale.level(1));
}

TEST(Cost, LevelsOfSearchesGrowWhenAThroughputFalls) {
  Scale const scale{tokens_per_second(), 0.07, {}};
  EXPECT_NEAR(scale.level(45) - scale.level(50), std::log(50.0 / 45), 1e-12);
  EXPECT_NEAR(scale.value(scale.level(45)), 45, 1e-9);
}

}  // namespace
}  // namespace torchwatch::bisect
