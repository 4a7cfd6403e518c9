#include "bisect/compare/compare.h"

#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "usual.h"
#include <gtest/gtest.h>

namespace torchwatch::bisect {
namespace {

std::optional<Comparison> compare(std::span<Pair const> pairs,
                                  Metric metric,
                                  config::DecideOptions const& with,
                                  Exactness past = {}) {
  Compare compare{metric, with, past};
  for (auto const& pair : pairs)
    compare.add(pair);
  return compare.answer();
}

std::vector<Pair> repeated(int count, Pair pair) {
  return std::vector<Pair>(static_cast<std::size_t>(count), pair);
}

/// Log ratios of 0, +2%, 0, -2%, ... around `ratio`.
std::vector<Pair> steady(int count, double ratio) {
  constexpr double off[] = {1, 1.02, 1, 1 / 1.02};
  std::vector<Pair> pairs;
  for (int i = 0; i < count; ++i) {
    pairs.push_back({100, 100 * ratio * off[i % 4]});
  }
  return pairs;
}

TEST(Compare, NeedsPairsUntilItIsSure) {
  EXPECT_FALSE(compare({}, Metric::latency, usual_options));
  EXPECT_FALSE(compare(repeated(3, {100, 200}), Metric::latency, usual_options));
  EXPECT_FALSE(compare(steady(5, 1.2), Metric::latency, usual_options));
  EXPECT_TRUE(compare(steady(13, 1.2), Metric::latency, usual_options));
}

TEST(Compare, CallsNoChangeWithFewerPairsThanTheSignTestNeeds) {
  // On any host, twelve fair signs agree in one of 4,096 cases.
  EXPECT_FALSE(compare(steady(12, 5), Metric::latency, usual_options));
  auto strict = usual_options;
  strict.error = 1e-5;
  EXPECT_FALSE(compare(steady(15, 5), Metric::latency, strict));
  EXPECT_TRUE(compare(steady(18, 5), Metric::latency, strict));
}

TEST(Compare, AChangesIntervalDoesNotReachOverNoChange) {
  // All pairs of a loaded host have one sign, and are far apart.
  constexpr double sizes[] = {0.15, 0.285, 0.15, 0.015};
  std::vector<Pair> slower;
  std::vector<Pair> faster;
  for (int i = 0; i < 16; ++i) {
    double const ratio = std::exp(sizes[i % 4]);
    slower.push_back({100, 100 * ratio});
    faster.push_back({100 * ratio, 100});
  }
  auto const regression = compare(slower, Metric::latency, usual_options);
  ASSERT_TRUE(regression);
  EXPECT_EQ(regression->verdict, Verdict::regression);
  EXPECT_EQ(regression->ratio->low, 1);
  auto const improvement = compare(faster, Metric::latency, usual_options);
  ASSERT_TRUE(improvement);
  EXPECT_EQ(improvement->verdict, Verdict::improvement);
  EXPECT_EQ(improvement->ratio->high, 1);
}

TEST(Compare, CallsASlowdownARegressionWithItsEvidence) {
  auto const found = compare(steady(13, 1.2), Metric::latency, usual_options);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->verdict, Verdict::regression);
  EXPECT_NEAR(found->before, 100, 1e-9);
  EXPECT_NEAR(found->after, 120, 1e-9);
  ASSERT_TRUE(found->ratio);
  EXPECT_NEAR(found->ratio->ratio, 1.2, 1e-9);
  EXPECT_GT(found->ratio->low, 1);
  EXPECT_LT(found->ratio->low, 1.2);
  EXPECT_GT(found->ratio->high, 1.2);
  EXPECT_EQ(found->error_bound, usual_options.error);
  EXPECT_EQ(found->pairs, 13);
}

TEST(Compare, FasterIsAnImprovementNotARegression) {
  auto const found = compare(steady(13, 0.8), Metric::latency, usual_options);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->verdict, Verdict::improvement);
  EXPECT_LT(found->ratio->high, 1);
}

TEST(Compare, AChangeWellBelowTheThresholdIsUnchanged) {
  auto const found = compare(steady(18, 1.01), Metric::latency, usual_options);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->verdict, Verdict::unchanged);
}

TEST(Compare, GivesUpWhenThePairsAreSpent) {
  std::vector<Pair> pairs;
  for (int i = 0; i < usual_options.max_pairs; ++i) {
    pairs.push_back({100, i % 2 == 0 ? 60.0 : 170.0});
  }
  EXPECT_FALSE(compare(std::span{pairs}.first(37), Metric::latency, usual_options));
  auto const found = compare(pairs, Metric::latency, usual_options);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->verdict, Verdict::inconclusive);
  EXPECT_EQ(found->pairs, usual_options.max_pairs);
}

TEST(Compare, AnswersAtMaxPairsEvenIfBelowMinPairs) {
  auto tight = usual_options;
  tight.max_pairs = 3;
  EXPECT_TRUE(compare(steady(3, 1.5), Metric::latency, tight));
}

TEST(Compare, AFewBurstsAreNotARegression) {
  auto pairs = steady(usual_options.max_pairs, 1.0);
  for (std::size_t i = 0; i < 12; ++i) {
    pairs[3 * i].after *= 1.6;
  }
  for (std::size_t count = 1; count <= pairs.size(); ++count) {
    auto const found = compare(std::span{pairs}.first(count), Metric::latency, usual_options);
    if (found) {
      EXPECT_NE(found->verdict, Verdict::regression) << count << " pairs";
    }
  }
}

TEST(Compare, AMedianBelowTheThresholdIsNotARegression) {
  auto pairs = steady(usual_options.max_pairs, 1.04);
  for (std::size_t i = 0; i < pairs.size(); i += 3) {
    pairs[i].after *= 1.2;
  }
  auto const found = compare(pairs, Metric::latency, usual_options);
  ASSERT_TRUE(found);
  EXPECT_GT(found->ratio->ratio, 1.07);
  EXPECT_GT(found->ratio->low, 1);
  EXPECT_EQ(found->verdict, Verdict::inconclusive);
}

TEST(Compare, DriftOfTheHostDoesNotHideAChange) {
  auto pairs = steady(20, 1.2);
  double host = 1;
  for (auto& pair : pairs) {
    pair = {pair.before * host, pair.after * host};
    host *= 1.25;
  }
  auto const found = compare(pairs, Metric::latency, usual_options);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->verdict, Verdict::regression);
}

TEST(Compare, ALatencyBelowTheFloorIsUnchanged) {
  auto const found = compare(repeated(12, {0.004, 0.008}), Metric::latency, usual_options);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->verdict, Verdict::unchanged);
}

TEST(Compare, OneProcessOfEachBuildDecidesNothing) {
  for (auto const after : {92 * mib, 100 * mib, 108 * mib})
    EXPECT_FALSE(compare(repeated(1, {100 * mib, after}), Metric::cmem, usual_options));
}

Verdict verdict_of_memory(int pairs, Pair pair, Exactness past = {}) {
  auto const found = compare(repeated(pairs, pair), Metric::cmem, usual_options, past);
  return found ? found->verdict : Verdict::inconclusive;
}

TEST(Compare, MemoryWithoutAPastIsUnchangedAfterFourPairsAndChangedAfterSeven) {
  EXPECT_EQ(verdict_of_memory(3, {100 * mib, 100 * mib}), Verdict::inconclusive);
  EXPECT_EQ(verdict_of_memory(4, {100 * mib, 100 * mib}), Verdict::unchanged);
  EXPECT_EQ(verdict_of_memory(4, {100 * mib, 107 * mib}), Verdict::unchanged);
  EXPECT_EQ(verdict_of_memory(4, {2 * mib, 2.9 * mib}), Verdict::unchanged) << "below the floor";
  EXPECT_EQ(verdict_of_memory(4, {1 * mib, 0.1 * mib}), Verdict::unchanged) << "below the floor";
  EXPECT_EQ(verdict_of_memory(6, {100 * mib, 108 * mib}), Verdict::inconclusive);
  EXPECT_EQ(verdict_of_memory(7, {100 * mib, 108 * mib}), Verdict::regression);
  EXPECT_EQ(verdict_of_memory(7, {100 * mib, 92 * mib}), Verdict::improvement);
  EXPECT_EQ(verdict_of_memory(7, {0, 3 * mib}), Verdict::regression);
}

TEST(Compare, MemoryThatAlwaysRepeatedIsUnchangedAfterTwoPairsAndChangedAfterThree) {
  Exactness const past{.agreed = 40};
  EXPECT_EQ(verdict_of_memory(1, {100 * mib, 100 * mib}, {.agreed = 10'000}), Verdict::inconclusive)
      << "one process may always be an outlier";
  EXPECT_EQ(verdict_of_memory(2, {100 * mib, 100 * mib}, past), Verdict::unchanged);
  EXPECT_EQ(verdict_of_memory(2, {100 * mib, 108 * mib}, past), Verdict::inconclusive);
  EXPECT_EQ(verdict_of_memory(3, {100 * mib, 108 * mib}, past), Verdict::regression);
}

TEST(Compare, AgreementIsCountedForEachNightAndBuild) {
  std::vector<std::vector<Pair>> const nights{
      {{1, 2}, {1, 2}, {1, 3}}, {{5, 5}}, {}, {{7, 7}, {7, 7}}};
  auto const repeats = exactness_of(nights);
  EXPECT_EQ(repeats.agreed, 5);
  EXPECT_EQ(repeats.disagreed, 1);
}

TEST(Compare, MemoryThatOnceDidNotRepeatIsJudgedLikeANoisyMetric) {
  Exactness const past{.agreed = 40, .disagreed = 1};
  EXPECT_EQ(verdict_of_memory(12, {100 * mib, 108 * mib}, past), Verdict::inconclusive);
  EXPECT_EQ(verdict_of_memory(13, {100 * mib, 108 * mib}, past), Verdict::regression);
}

TEST(Compare, AnExactMetricHasNoWidthAndTheErrorThatAllProcessesAreOutliers) {
  auto const found = compare(repeated(7, {100 * mib, 200 * mib}), Metric::gmem, usual_options);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->error_bound, std::pow(4, -7), 1e-12);
  EXPECT_EQ(found->before, 100 * mib);
  EXPECT_EQ(found->after, 200 * mib);
  EXPECT_EQ(found->ratio->low, 2);
  EXPECT_EQ(found->ratio->high, 2);
  auto const known =
      compare(repeated(3, {100 * mib, 200 * mib}), Metric::gmem, usual_options, {.agreed = 40});
  ASSERT_TRUE(known);
  EXPECT_NEAR(known->error_bound, 6.0 / (42 * 43 * 44), 1e-12);
}

TEST(Compare, AStricterErrorNeedsMoreProcessesOfAnExactMetric) {
  auto strict = usual_options;
  strict.error = 1e-5;
  EXPECT_FALSE(compare(repeated(8, {100 * mib, 200 * mib}), Metric::cmem, strict));
  EXPECT_TRUE(compare(repeated(9, {100 * mib, 200 * mib}), Metric::cmem, strict));
}

TEST(Compare, AnExactChangeIsInconclusiveWhenThePairsAreSpentTooSoon) {
  auto tight = usual_options;
  tight.max_pairs = 2;
  auto const found = compare(repeated(2, {100 * mib, 200 * mib}), Metric::cmem, tight);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->verdict, Verdict::inconclusive);
}

TEST(Compare, AnExactMetricThatDoesNotRepeatIsJudgedLikeANoisyOne) {
  std::vector<Pair> pairs{{100 * mib, 120 * mib}, {100 * mib, 100 * mib}};
  EXPECT_FALSE(compare(pairs, Metric::cmem, usual_options));
  std::mt19937 random{1};
  while (std::ssize(pairs) < usual_options.max_pairs) {
    pairs.push_back({100 * mib, random() % 2 == 0 ? 120 * mib : 100 * mib});
  }
  auto const found = compare(pairs, Metric::cmem, usual_options);
  ASSERT_TRUE(found);
  EXPECT_GT(found->error_bound, 0);
  EXPECT_LT(found->ratio->low, 1.1);
  EXPECT_GT(found->ratio->high, 1.1);
}

TEST(Compare, ALeakThatAppearsHasNoRatioAndIsDecidedByTheFloor) {
  auto const appeared = compare(repeated(7, {0, 4096}), Metric::leak, usual_options);
  ASSERT_TRUE(appeared);
  EXPECT_EQ(appeared->verdict, Verdict::regression);
  EXPECT_FALSE(appeared->ratio);
  EXPECT_EQ(appeared->before, 0);
  EXPECT_EQ(appeared->after, 4096);

  auto const small = compare(repeated(4, {0, 512}), Metric::leak, usual_options);
  ASSERT_TRUE(small);
  EXPECT_EQ(small->verdict, Verdict::unchanged);
}

TEST(Compare, ALeakThatIsFixedIsAnImprovement) {
  auto const fixed = compare(repeated(7, {4096, 0}), Metric::leak, usual_options);
  ASSERT_TRUE(fixed);
  EXPECT_EQ(fixed->verdict, Verdict::improvement);
  EXPECT_EQ(fixed->ratio->ratio, 0);
}

TEST(Compare, AValueThatIsNotFiniteCostsOnlyItsPair) {
  auto pairs = steady(14, 1.2);
  pairs[6].after = std::numeric_limits<double>::quiet_NaN();
  auto const found = compare(pairs, Metric::latency, usual_options);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->verdict, Verdict::regression);
  EXPECT_EQ(found->pairs, 14);
}

TEST(Compare, ValuesThatAreNotFiniteAreInconclusive) {
  auto const none = std::numeric_limits<double>::quiet_NaN();
  for (auto const metric : {Metric::latency, Metric::cmem}) {
    auto const found =
        compare(repeated(usual_options.max_pairs, {none, HUGE_VAL}), metric, usual_options);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->verdict, Verdict::inconclusive);
    EXPECT_FALSE(found->ratio);
  }
}

TEST(Compare, EndsWithoutAFloorAndWithAnInfiniteOne) {
  for (double const floor : {0.0, HUGE_VAL}) {
    auto options = usual_options;
    options.latency_floor_ms = floor;
    std::vector<Pair> pairs{{0, 0}};
    while (std::ssize(pairs) < options.max_pairs)
      pairs.push_back({1, pairs.size() % 2 == 0 ? 1.5 : 0.5});
    EXPECT_TRUE(compare(pairs, Metric::latency, options));
  }
}

TEST(Compare, EndsForAnyValues) {
  std::mt19937_64 random{5};
  auto const any = [&random] {
    double const usual[] = {0, 1, -1, 100, 1e-308, 5e-324, 1e308, -1e308, HUGE_VAL, -HUGE_VAL};
    auto const bits = random();
    return bits % 3 == 0 ? usual[bits / 3 % std::size(usual)] : std::bit_cast<double>(random());
  };
  for (int trial = 0; trial < 200; ++trial) {
    auto const metrics = all_metrics();
    auto const metric = metrics[random() % metrics.size()];
    Compare compare{metric, usual_options};
    while (!compare.answer())
      compare.add({any(), any()});
    EXPECT_LE(compare.answer()->pairs, usual_options.max_pairs);
  }
}

}  // namespace
}  // namespace torchwatch::bisect
