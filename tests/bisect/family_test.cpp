#include <algorithm>

#include "host.h"
#include <gtest/gtest.h>

#include "bisect/compare/compare.h"

namespace torchwatch::bisect {
namespace {

TEST(Family, KeepsTheErrorOfASmallNight) {
  config::DecideOptions const options;
  EXPECT_EQ(for_family(options, 0).error, options.error);
  EXPECT_EQ(for_family(options, 1).error, options.error);
  EXPECT_EQ(for_family(options, 500).error, options.error);
}

TEST(Family, LowersTheErrorWithMoreSeries) {
  config::DecideOptions const options;
  EXPECT_DOUBLE_EQ(for_family(options, 5'000).error, options.error / 10);
  EXPECT_EQ(for_family(options, 10'000).miss, options.miss);
}

TEST(Family, AllowsThePairsThatTheSignTestNeeds) {
  config::DecideOptions options;
  options.max_pairs = options.sign_test_pairs();
  auto const many = for_family(options, 100'000);
  EXPECT_GT(many.sign_test_pairs(), options.sign_test_pairs());
  EXPECT_EQ(many.max_pairs, many.sign_test_pairs());
}

Verdict verdict_on(Host host, double after, config::DecideOptions const& decide) {
  Compare compare{Metric::latency, decide};
  while (!compare.answer())
    compare.add(host.pair(100, after));
  return compare.answer()->verdict;
}

TEST(Family, KeepsTheShareOfFalseDiscoveries) {
  // A level at which false alarms are common without the bound.
  config::DecideOptions options;
  options.error = 0.5;
  options.false_discovery = 0.1;
  options.threshold = 0.001;
  constexpr int series = 40;
  constexpr int nights = 5 * effort;
  auto const decide = for_family(options, series);
  double share = 0;
  for (unsigned night = 0; night < nights; ++night) {
    int called = 0;
    int false_calls = 0;
    for (unsigned one = 0; one < series; ++one) {
      bool const changed = one % 10 == 0;
      Host const host{{.sigma = 0.05}, night * series + one};
      bool const is_called = verdict_on(host, changed ? 125 : 100, decide) == Verdict::regression;
      called += is_called ? 1 : 0;
      false_calls += is_called && !changed ? 1 : 0;
    }
    share += static_cast<double>(false_calls) / std::max(1, called);
  }
  EXPECT_LE(share / nights, options.false_discovery);
}

}  // namespace
}  // namespace torchwatch::bisect
