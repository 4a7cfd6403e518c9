#include "bisect/compare/screen.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "host.h"
#include "usual.h"
#include <gmock/gmock.h>

namespace torchwatch::bisect {
namespace {

using testing::ElementsAre;

SweepSeries swept_latency(std::vector<Pair> pairs) {
  return {Metric::latency, std::move(pairs)};
}

TEST(Screen, PassesSeriesThatMayExceedTheThreshold) {
  std::vector<SweepSeries> const sweep{
      swept_latency({{100, 108}, {100, 108.1}}),  // is over it
      swept_latency({{100, 106}, {100, 109}}),    // may be
      swept_latency({{100, 104}, {100, 104.1}}),  // is not
      swept_latency({{100, 90}, {100, 91}}),      // is an improvement
  };
  EXPECT_THAT(may_have_grown(sweep, usual_options), ElementsAre(true, true, false, false));
}

/// A hundred unchanged series, measured twice at `sigma`, and one with an unknown noise.
std::vector<SweepSeries> fleet_with(SweepSeries const& steady, double sigma) {
  Host host{{.sigma = sigma}, 7};
  std::vector<SweepSeries> sweep{steady};
  for (int i = 0; i < 100; ++i)
    sweep.push_back(swept_latency({host.pair(100, 100), host.pair(100, 100)}));
  return sweep;
}

TEST(Screen, PassesMoreWhereTheFleetIsNoisy) {
  // The series itself does not show that +4% is less sure in the noisy fleet.
  SweepSeries const steady = swept_latency({{100, 104}, {100, 104}});
  EXPECT_FALSE(may_have_grown(fleet_with(steady, 0.003), usual_options).front());
  EXPECT_TRUE(may_have_grown(fleet_with(steady, 0.03), usual_options).front());
}

TEST(Screen, PassesEverythingWhileNothingIsKnownOfTheNoise) {
  EXPECT_THAT(may_have_grown(std::vector{swept_latency({{100, 80}})}, usual_options),
              ElementsAre(true));
}

TEST(Screen, PassesNothingThatWasNotMeasured) {
  EXPECT_THAT(may_have_grown(std::vector{swept_latency({})}, usual_options), ElementsAre(false));
}

TEST(Screen, AppliesTheFloors) {
  std::vector<SweepSeries> const sweep{
      swept_latency({{0.01, 0.015}, {0.01, 0.015}}),
      {Metric::cmem, {{mib, 1.5 * mib}, {mib, 1.5 * mib}}},
      {Metric::cmem, {{mib, 2.5 * mib}, {mib, 2.5 * mib}}},
      {Metric::leak, {{0, 1024}, {0, 1024}}},
      {Metric::leak, {{0, 500}, {0, 500}}},
  };
  EXPECT_THAT(may_have_grown(sweep, usual_options), ElementsAre(false, false, true, true, false));
}

/// Nights of two pairs of an unchanged series.
std::vector<std::vector<Pair>> past_of(Host& host, int nights) {
  std::vector<std::vector<Pair>> past;
  for (int night = 0; night < nights; ++night)
    past.push_back({host.pair(100, 100), host.pair(100, 100)});
  return past;
}

TEST(Screen, UsesTheNoiseOfEachSeriesOwnNights) {
  Host quiet{{.sigma = 0.005}, 7};
  Host noisy{{.sigma = 0.05}, 7};
  // Tonight they look alike.
  std::vector<SweepSeries> sweep(20, swept_latency({{100, 103.9}, {100, 104}}));
  for (auto& series : sweep)
    series.past = past_of(quiet, 10);
  sweep[7].past = past_of(noisy, 10);
  auto passed = std::vector<bool>(20);
  passed[7] = true;
  EXPECT_EQ(may_have_grown(sweep, usual_options), passed);
}

TEST(Screen, IsRobustAgainstOutliersOfThePast) {
  Host host{{.sigma = 0.005}, 7};
  auto series = swept_latency({{100, 100}, {100, 100.4}});
  series.past = past_of(host, 10);
  series.past[4][1].after = 300;
  EXPECT_THAT(may_have_grown(std::vector{series}, usual_options), ElementsAre(false));
}

TEST(Screen, PassesSeriesThatAreUnlikeTheirPast) {
  Host host{{.sigma = 0.005}, 7};
  auto series = swept_latency({{100, 110}, {300, 110}});
  series.past = past_of(host, 20);
  EXPECT_THAT(may_have_grown(std::vector{series}, usual_options), ElementsAre(true))
      << "an outlier of the baseline hides the change";
}

TEST(Screen, RecognizesANoisyNight) {
  Host past{{.sigma = 0.005}, 7};
  Host tonight{{.sigma = 0.02}, 8};
  std::vector<SweepSeries> sweep;
  for (int i = 0; i < 100; ++i)
    sweep.push_back(
        {Metric::latency, {tonight.pair(100, 100), tonight.pair(100, 100)}, past_of(past, 20)});
  sweep.front().pairs = {{100, 105}, {100, 105}};
  EXPECT_FALSE(may_have_grown(std::vector{sweep.front()}, usual_options).front());
  EXPECT_TRUE(may_have_grown(sweep, usual_options).front());
}

TEST(Screen, LearnsFromNightsOfMorePairs) {
  Host host{{.sigma = 0.01}, 7};
  auto series = swept_latency({{100, 100}});
  EXPECT_THAT(may_have_grown(std::vector{series}, usual_options), ElementsAre(true));
  series.past = {{}, {{100, 101}}};
  EXPECT_THAT(may_have_grown(std::vector{series}, usual_options), ElementsAre(true));
  for (int pair = 0; pair < 8; ++pair)
    series.past.front().push_back(host.pair(100, 100));
  EXPECT_THAT(may_have_grown(std::vector{series}, usual_options), ElementsAre(false));
}

TEST(Screen, SkipsValuesThatAreNotFinite) {
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  Host host{{.sigma = 0.005}, 7};
  std::vector<SweepSeries> sweep(4, swept_latency({{100, 110}, {100, 110.5}}));
  sweep[0].pairs.push_back({100, nothing});
  sweep[1].pairs = {{nothing, 100}, {100, HUGE_VAL}};
  sweep[2].pairs = {{100, 100}, {100, 100.5}};
  sweep[2].past = past_of(host, 5);
  sweep[2].past[3] = {{100, nothing}, {HUGE_VAL, 100}, {0, 100}};
  sweep[3].pairs = {{-1e308, 1e308}, {1e308, -1e308}};
  EXPECT_THAT(may_have_grown(sweep, usual_options), ElementsAre(true, true, false, true));
}

/// The share of `count` series that pass with two pairs, after a growth by `growth` at `sigma`.
double share_passed(double growth, double sigma, int count) {
  Host host{{.sigma = sigma}, 7};
  std::vector<SweepSeries> sweep;
  for (int i = 0; i < count; ++i)
    sweep.push_back(swept_latency({host.pair(100, 100 * growth), host.pair(100, 100 * growth)}));
  auto const passed = may_have_grown(sweep, usual_options);
  return static_cast<double>(std::ranges::count(passed, true)) / count;
}

TEST(Screen, MissesLittleAtAnyNoise) {
  for (double const sigma : {0.01, 0.03, 0.05, 0.08}) {
    EXPECT_GT(share_passed(1.10, sigma, 4000), 0.98) << sigma;
    EXPECT_GT(share_passed(1.20, sigma, 4000), 0.995) << sigma;
  }
  EXPECT_LT(share_passed(1.00, 0.01, 4000), 0.01) << "a quiet fleet confirms little";
}

/// A fleet of 400 series at 0.5%, except for a share of noisy ones. Every second noisy series grew
/// by 10%. Returns the share of these that was missed.
double share_missed(double noisy, double sigma, int nights, std::uint64_t seed) {
  Host quiet_host{{.sigma = 0.005}, seed};
  Host noisy_host{{.sigma = sigma}, seed + 1};
  constexpr int count = 400;
  std::vector<SweepSeries> sweep;
  int const grown = static_cast<int>(noisy * count / 2);
  for (int i = 0; i < count; ++i) {
    auto& host = i < 2 * grown ? noisy_host : quiet_host;
    double const after = i < grown ? 110 : 100;
    sweep.push_back(
        {Metric::latency, {host.pair(100, after), host.pair(100, after)}, past_of(host, nights)});
  }
  auto const passed = may_have_grown(sweep, usual_options);
  return static_cast<double>(std::count(passed.begin(), passed.begin() + grown, false)) / grown;
}

TEST(Screen, MissesLittleInFleetsOfSeveralKinds) {
  constexpr int fleets = 4 * effort;
  for (int const nights : {0, 1, 5}) {
    for (auto const& [noisy, sigma] : {std::pair{0.5, 0.05}, std::pair{0.1, 0.08}}) {
      double missed = 0;
      for (int fleet = 0; fleet < fleets; ++fleet)
        missed += share_missed(noisy, sigma, nights, 1000 + 2 * static_cast<std::uint64_t>(fleet));
      double const grown = fleets * noisy * 200;
      EXPECT_LT(missed / fleets, 0.02 + 3 * std::sqrt(0.02 / grown)) << noisy << ", " << nights;
    }
  }
}

}  // namespace
}  // namespace torchwatch::bisect
