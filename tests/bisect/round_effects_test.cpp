#include "bisect/search/round_effects.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace torchwatch::bisect {
namespace {

/// Ten readings of 1, each with a weight of 2, in as many rounds.
std::vector<double> effects_of_ten(Drift drift) {
  RoundEffects effects{10, drift};
  effects.weigh(std::vector<double>(10, 2.0));
  std::vector<double> sums(10, 2.0);
  effects.predict(sums);
  return sums;
}

TEST(RoundEffects, OfIndependentRoundsAreTheReadingsShrunkByTheirNoise) {
  for (double const effect : effects_of_ten({0.5}))
    EXPECT_DOUBLE_EQ(effect, 0.5 * 2 / (1 + 0.5 * 2));
}

/// Each effect solves what the derivative of weights * (1 - effect)^2 + squares demands.
TEST(RoundEffects, OfAWalkBalanceReadingsAndSteps) {
  constexpr double step = 0.25;
  auto const effects = effects_of_ten({step, true});
  for (std::size_t i = 0; i < effects.size(); ++i) {
    double const before = i > 0 ? effects[i - 1] : 0;
    double const after = i + 1 < effects.size() ? effects[i + 1] - effects[i] : 0;
    EXPECT_NEAR(2 * (1 - effects[i]), (effects[i] - before - after) / step, 1e-12) << i;
  }
  EXPECT_GT(effects.back(), effects.front()) << "a walk begins at 0";
}

TEST(RoundEffects, SquaresAreOfTheEffectsOrOfTheStepsBetweenThem) {
  std::vector<double> const rising{1, 2, 3, 4};
  EXPECT_DOUBLE_EQ((RoundEffects{4, {0.5}}.squares(rising)), 30 / 0.5);
  EXPECT_DOUBLE_EQ((RoundEffects{4, {0.5, true}}.squares(rising)), 4 / 0.5);
}

/// For a walk of two rounds with steps s and weights a and b: the determinant of the identity plus
/// its covariance, {s, s; s, 2 s}, times the weights.
TEST(RoundEffects, LogDeterminantIsThatOfTheWrittenOutMatrix) {
  constexpr double s = 0.5;
  constexpr double a = 3;
  constexpr double b = 4;
  RoundEffects walk{2, {s, true}};
  walk.weigh(std::vector{a, b});
  EXPECT_NEAR(
      walk.log_determinant(), std::log((1 + s * a) * (1 + 2 * s * b) - s * a * s * b), 1e-12);
  RoundEffects apart{2, {s}};
  apart.weigh(std::vector{a, b});
  EXPECT_NEAR(apart.log_determinant(), std::log((1 + s * a) * (1 + s * b)), 1e-12);
}

}  // namespace
}  // namespace torchwatch::bisect
