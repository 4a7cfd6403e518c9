#include "bisect/compare/trust_statistics.h"

#include <gmock/gmock.h>

namespace torchwatch::bisect {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;

NightOfSeries night_of(double level, std::int64_t host = 1) {
  NightOfSeries night;
  night.level = level;
  night.low = 0.9 * level;
  night.high = 1.1 * level;
  night.host = host;
  return night;
}

std::vector<NightOfSeries> nightly_prior(std::vector<double> const& levels) {
  std::vector<NightOfSeries> nights;
  for (auto const level : levels)
    nights.push_back(night_of(level));
  return nights;
}

TEST(NightNoise, IsTheSpreadBesideTheLevel) {
  auto const noise = noise_of(nightly_prior({98, 99, 100, 101, 102}));

  ASSERT_TRUE(noise);
  EXPECT_EQ(noise->level, 100);
  EXPECT_NEAR(noise->between, 0.014826, 1e-6) << "a median distance of 1%";
  EXPECT_NEAR(noise->within, 0.2, 1e-9);
}

TEST(NightNoise, IsNotAChangeAmongTheNights) {
  EXPECT_NEAR(noise_of(nightly_prior({100, 100, 100, 100, 200, 200}))->between, 0, 1e-9);
}

TEST(NightNoise, TakesTwoNightsAndALevel) {
  EXPECT_FALSE(noise_of(nightly_prior({})));
  EXPECT_FALSE(noise_of(nightly_prior({100})));
  EXPECT_FALSE(noise_of(nightly_prior({0, 0, 0})));
  EXPECT_TRUE(noise_of(nightly_prior({100, 100})));
}

TEST(HostPace, IsTheMedianOverTheSeries) {
  std::vector<SeriesNights> series;
  for (double const level : {1.0, 10.0, 100.0})
    series.push_back(
        {{},
         {night_of(level, 1), night_of(level, 1), night_of(level, 1), night_of(1.2 * level, 2)}});
  series[0].nights.back().level = 9;  // a change of one series is no host's

  auto const paces = paces_of(series);

  EXPECT_THAT(paces, ElementsAre(Key(1), Key(2)));
  EXPECT_EQ(paces.at(1).ratio, 1);
  EXPECT_EQ(paces.at(1).nights, 9U);
  EXPECT_NEAR(paces.at(2).ratio, 1.2, 1e-9);
  EXPECT_EQ(paces.at(2).series, 3U);
  EXPECT_EQ(paces.at(2).high, 9);
  EXPECT_NEAR(paces.at(2).low, 1.2, 1e-9);
}

TEST(HostPace, OfSeriesThatTellNothingIsNotThere) {
  std::vector<SeriesNights> const series{{{}, {night_of(5)}}, {{}, {night_of(0), night_of(0)}}};

  EXPECT_THAT(paces_of(series), IsEmpty());
}

}  // namespace
}  // namespace torchwatch::bisect
