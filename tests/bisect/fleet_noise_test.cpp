#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "bisect/compare/screen.h"

namespace torchwatch::bisect {
namespace {

/// Squares of `degrees` normal variables each, of the standard deviations in turn.
std::vector<Spread> fleet_of(std::vector<double> const& deviations, int count, int degrees) {
  std::mt19937_64 random{7};
  std::normal_distribution<> normal;
  std::vector<Spread> fleet;
  for (int i = 0; i < count; ++i) {
    auto& one = fleet.emplace_back(Spread{0, static_cast<double>(degrees)});
    for (int degree = 0; degree < degrees; ++degree)
      one.squares +=
          std::pow(deviations[static_cast<std::size_t>(i) % deviations.size()] * normal(random), 2);
  }
  return fleet;
}

double deviation_of(Spread const& spread) {
  return std::sqrt(spread.squares / spread.degrees);
}

TEST(UsualSpread, HasManyDegreesIfSeriesAreAlike) {
  auto const alike = usual_spread(fleet_of({0.01}, 1000, 2));
  EXPECT_GE(alike.degrees, 12);
  EXPECT_NEAR(deviation_of(alike), 0.01, 0.0005);
}

TEST(UsualSpread, HasFewDegreesIfSeriesDiffer) {
  EXPECT_LE(usual_spread(fleet_of({0.005, 0.05}, 1000, 1)).degrees, 1.5);
  EXPECT_LE(usual_spread(fleet_of({0.005, 0.05}, 1000, 20)).degrees, 1.5);
}

TEST(UsualSpread, HasFewDegreesForFewSeries) {
  EXPECT_LE(usual_spread(fleet_of({0.01}, 1, 1)).degrees, 0.5);
  EXPECT_LE(usual_spread(fleet_of({0.01}, 5, 1)).degrees, 1);
}

TEST(UsualSpread, IsEmptyIfNothingIsKnown) {
  EXPECT_EQ(usual_spread({}).degrees, 0);
  EXPECT_EQ(usual_spread(std::vector{Spread{}, Spread{HUGE_VAL, 2}}).degrees, 0);
}

TEST(UsualSpread, IsTinyIfSeriesRepeatExactly) {
  std::vector<Spread> const exact(100, Spread{0, 1});
  EXPECT_LT(deviation_of(usual_spread(exact)), 2e-6);
}

}  // namespace
}  // namespace torchwatch::bisect
