#include "bisect/compare/environment.h"

#include <cmath>
#include <limits>
#include <random>

#include "usual.h"
#include <gmock/gmock.h>

namespace torchwatch::bisect {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

Remeasured remeasured_latency(double then, double now) {
  return {Metric::latency, {then, then * 1.01, then * 0.99}, {now, now * 1.01, now * 0.99}};
}

/// Four series on a host whose pace changed by a factor.
RemeasuredNight night(double pace) {
  RemeasuredNight night;
  for (double const level : {10.0, 20.0, 30.0, 40.0})
    night.push_back(remeasured_latency(level, level * pace));
  return night;
}

std::vector<RemeasuredNight> nights(std::vector<double> const& paces) {
  std::vector<RemeasuredNight> nights;
  for (double const pace : paces)
    nights.push_back(night(pace));
  return nights;
}

std::vector<RemeasuredNight> const quiet_nights =
    nights({1.01, 0.99, 1.0, 1.005, 0.995, 1.01, 0.99});

TEST(Environment, HasNoShiftWhereFewSeriesMoved) {
  RemeasuredNight const series{
      remeasured_latency(10, 10.5), remeasured_latency(20, 19), remeasured_latency(30, 45)};
  EXPECT_THAT(environment_shifts(series, quiet_nights, usual_options), IsEmpty())
      << "one series may have its own reasons";
  EXPECT_THAT(environment_shifts({}, quiet_nights, usual_options), IsEmpty());
}

TEST(Environment, ShiftsWhereMostSeriesMoved) {
  RemeasuredNight const series{remeasured_latency(10, 12),
                               remeasured_latency(20, 24),
                               remeasured_latency(30, 31),
                               remeasured_latency(40, 60)};
  auto const shifts = environment_shifts(series, quiet_nights, usual_options);
  ASSERT_THAT(shifts, SizeIs(1));
  EXPECT_EQ(shifts[0].metric, Metric::latency);
  EXPECT_EQ(shifts[0].series, 4U);
  EXPECT_EQ(shifts[0].shifted, 3U);
  EXPECT_NEAR(shifts[0].ratio, 1.2, 1e-9);
  EXPECT_EQ(shifts[0].nights, 7U);
  EXPECT_NEAR(shifts[0].usual, 1.01, 1e-3);
}

TEST(Environment, HasNoShiftWhereSeriesMovedInBothDirections) {
  RemeasuredNight const series{remeasured_latency(10, 14),
                               remeasured_latency(20, 28),
                               remeasured_latency(30, 20),
                               remeasured_latency(40, 28)};
  EXPECT_THAT(environment_shifts(series, quiet_nights, usual_options), IsEmpty());
}

TEST(Environment, CanBecomeFaster) {
  auto const shifts = environment_shifts(night(0.8), quiet_nights, usual_options);
  ASSERT_THAT(shifts, SizeIs(1));
  EXPECT_NEAR(shifts[0].ratio, 0.8, 1e-9);
  EXPECT_EQ(shifts[0].shifted, 4U);
}

TEST(Environment, ReportsAThirdAfterFiveQuietNights) {
  EXPECT_THAT(environment_shifts(night(1.3), nights({1.01, 0.98, 1.0, 1.01, 0.99}), usual_options),
              SizeIs(1));
}

TEST(Environment, NeedsALargeShiftInAYoungDatabase) {
  for (double const pace : {1.04, 0.86, 0.78, 1.22, 1.3})
    for (auto const& earlier : {nights({}), nights({1.0}), nights({1.0, 0.99, 1.01, 1.0})})
      EXPECT_THAT(environment_shifts(night(pace), earlier, usual_options), IsEmpty()) << pace;
  EXPECT_THAT(environment_shifts(night(1.5), {}, usual_options), SizeIs(1));
  EXPECT_THAT(environment_shifts(night(0.6), nights({1.0}), usual_options), SizeIs(1));
  EXPECT_THAT(environment_shifts(night(1.5), nights({0.6}), usual_options), IsEmpty())
      << "another night did as much";
}

TEST(Environment, HasNoShiftInAYoungDatabaseWithNoisyRounds) {
  RemeasuredNight const loud{{Metric::latency, {10, 12}, {15, 18}},
                             {Metric::latency, {20, 24}, {30, 36}}};
  EXPECT_THAT(environment_shifts(loud, {}, usual_options), IsEmpty());
}

TEST(Environment, ReportsASecondShiftAfterTheFirst) {
  auto earlier = quiet_nights;
  for (auto const& one : quiet_nights)
    earlier.push_back(one);
  earlier.push_back(night(1.3));
  EXPECT_THAT(environment_shifts(night(1 / 1.3), earlier, usual_options), SizeIs(1));
}

/// The share of nights on which a shift is reported for a host with a random pace every night.
template <class Pace>
double share_raised(std::size_t known, Pace pace) {
  constexpr int trials = 2000;
  int raised = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> paces;
    double last = pace();
    for (std::size_t i = 0; i <= known; ++i) {
      double const next = pace();
      paces.push_back(next / last);
      last = next;
    }
    double const tonight = paces.back();
    paces.pop_back();
    raised += environment_shifts(night(tonight), nights(paces), usual_options).empty() ? 0 : 1;
  }
  return static_cast<double>(raised) / trials;
}

TEST(Environment, RarelyReportsAPaceThatWandersEveryNight) {
  std::mt19937_64 random{7};
  std::uniform_real_distribution<> within{0.85, 1.15};
  std::normal_distribution<> normal;
  for (std::size_t const known : {0U, 1U, 4U, 5U, 10U, 20U}) {
    // Once in a thousand nights, plus three standard deviations for 2,000 nights.
    double const most = known < 5 ? 0 : 0.0031;
    EXPECT_LE(share_raised(known, [&] { return within(random); }), most) << known;
    EXPECT_LE(share_raised(known, [&] { return std::exp(0.05 * normal(random)); }), most) << known;
  }
}

TEST(Environment, JudgesEachMetricSeparately) {
  RemeasuredNight const series{remeasured_latency(10, 10),
                               remeasured_latency(20, 20),
                               {Metric::cmem, {100 * mib}, {150 * mib}},
                               {Metric::leak, {0}, {0}}};
  auto const shifts = environment_shifts(series, {}, usual_options);
  ASSERT_THAT(shifts, SizeIs(1)) << "memory has no pace";
  EXPECT_EQ(shifts[0].metric, Metric::cmem);
  EXPECT_NEAR(shifts[0].ratio, 1.5, 1e-12);
}

TEST(Environment, SkipsValuesThatAreNotFinite) {
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  auto tonight = night(1.3);
  tonight[0].now = {nothing, nothing};
  tonight[1].now.push_back(nothing);
  tonight[2].then.push_back(HUGE_VAL);
  auto earlier = quiet_nights;
  earlier[0][0].then = {nothing};
  auto const shifts = environment_shifts(tonight, earlier, usual_options);
  ASSERT_THAT(shifts, SizeIs(1));
  EXPECT_EQ(shifts[0].series, 3U);
  EXPECT_NEAR(shifts[0].ratio, 1.3, 1e-2);
}

}  // namespace
}  // namespace torchwatch::bisect
