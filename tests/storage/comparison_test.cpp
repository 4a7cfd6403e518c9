#include "storage/domain/comparison.h"

#include <gmock/gmock.h>

#include "tests/storage/samples.h"

namespace torchwatch::tests {
namespace {

Comparison comparison_of(Verdict verdict, double before, double after) {
  Comparison comparison;
  comparison.verdict = verdict;
  comparison.before = before;
  comparison.after = after;
  if (before > 0) comparison.ratio = RatioInterval{after / before, 1, 2};
  return comparison;
}

SeriesChange change(std::string const& model, double before, double after) {
  return {latency_of(model), comparison_of(Verdict::regression, before, after)};
}

TEST(WorstFirst, PutsGrowthFromZeroFirst) {
  auto const sorted =
      worst_first({change("mild", 10, 11), change("bad", 10, 12), change("new", 0, 1)});
  EXPECT_EQ(sorted.at(0).series.benchmark.model, "new");
  EXPECT_EQ(sorted.at(1).series.benchmark.model, "bad");
  EXPECT_EQ(sorted.at(2).series.benchmark.model, "mild");
}

TEST(WorstFirst, PutsTheLargestDropFirstWhereHigherIsBetter) {
  MetricKind const kind{.unit = "1/s", .is_higher_better = true};
  auto const tokens = declare_metric("worst_tokens", kind).value();
  auto const drop = [&](std::string const& model, double after) {
    auto one = change(model, 10, after);
    one.series.metric = tokens;
    return one;
  };
  auto const sorted = worst_first({drop("mild", 9), change("slower", 10, 12), drop("bad", 5)});
  EXPECT_EQ(sorted.at(0).series.benchmark.model, "bad");
  EXPECT_EQ(sorted.at(1).series.benchmark.model, "slower");
  EXPECT_EQ(sorted.at(2).series.benchmark.model, "mild");
  EXPECT_EQ(cost_ratio(sorted.at(0)), 2);
  EXPECT_EQ(cost_ratio(sorted.at(1)), 1.2);
}

TEST(HasLevels, IsFalseWhenProcessesFailed) {
  EXPECT_FALSE(has_levels({}));
  EXPECT_TRUE(has_levels(comparison_of(Verdict::unchanged, 0, 0))) << "no leak";
  EXPECT_TRUE(has_levels(comparison_of(Verdict::inconclusive, 0, 64)));
  auto restless = comparison_of(Verdict::inconclusive, 0, 0);
  restless.error_bound = 0.2;
  EXPECT_TRUE(has_levels(restless)) << "as measured";
  EXPECT_TRUE(has_levels(comparison_of(Verdict::inconclusive, 10, 11)));
}

}  // namespace
}  // namespace torchwatch::tests
