#include "bisect/search/posterior.h"

#include <cmath>
#include <random>

#include <gmock/gmock.h>

namespace torchwatch::bisect {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

std::vector<double> alike(std::size_t suspects) {
  return std::vector<double>(suspects, 1.0);
}

/// Returns a reading for each value, each in a separate round.
std::vector<Reading> read(std::vector<std::pair<std::size_t, double>> const& values) {
  std::vector<Reading> readings;
  for (auto const& [position, level] : values)
    readings.push_back({position, readings.size(), level});
  return readings;
}

TEST(Posterior, IsThePriorWithoutReadings) {
  auto const belief = believe(alike(4), {}, {});
  EXPECT_THAT(belief.positions, ElementsAre(0U, 4U));
  EXPECT_DOUBLE_EQ(belief.no_change(), Expectation{}.no_change);
  EXPECT_DOUBLE_EQ(belief.changed_in(0), 1 - Expectation{}.no_change);
}

TEST(Posterior, PutsTheChangeBetweenTheLevels) {
  auto const belief = believe(
      alike(3),
      read(
          {{0, 1.00}, {0, 1.01}, {1, 1.01}, {1, 0.99}, {2, 1.20}, {2, 1.21}, {3, 1.20}, {3, 1.19}}),
      {});
  EXPECT_THAT(belief.positions, ElementsAre(0U, 1U, 2U, 3U));
  EXPECT_GT(belief.changed_in(1), 0.99);
  EXPECT_LT(belief.no_change(), 1e-3);
  auto const& best = *std::ranges::max_element(belief.hypotheses, {}, &Hypothesis::probability);
  ASSERT_EQ(best.changes.size(), 1U);
  EXPECT_THAT(best.changes[0].size, DoubleNear(0.2, 0.01));
  EXPECT_THAT(best.base, DoubleNear(1.0, 0.01));
}

TEST(Posterior, FindsNoChangeBetweenEqualEnds) {
  auto const belief = believe(
      alike(8),
      read({{0, 1.0}, {8, 1.02}, {0, 1.01}, {8, 0.99}, {0, 0.99}, {8, 1.0}, {0, 1.0}, {8, 1.01}}),
      {});
  EXPECT_GT(belief.no_change(), 0.95);
}

TEST(Posterior, RemovesTheEffectsOfRounds) {
  std::vector<Reading> same, moved;
  double const pace[] = {0, 0.3, -0.2, 0.1, 0.35, -0.1};
  for (std::size_t round = 0; round < std::size(pace); ++round) {
    double const wobble = round % 2 == 0 ? 0.004 : -0.004;
    same.insert(same.end(), {{0, round, pace[round]}, {5, round, pace[round] + wobble}});
    moved.insert(moved.end(), {{0, round, pace[round]}, {5, round, pace[round] + 0.1 + wobble}});
  }
  EXPECT_GT(believe(alike(5), same, {}).no_change(), 0.98);
  EXPECT_LT(believe(alike(5), moved, {}).no_change(), 0.02);
  EXPECT_GT(believe(alike(5), moved, {}).drift, 1);
}

/// A lone suspect next to its parent, thirteen rounds in one layout and thirteen in another.
TEST(Posterior, DoesNotTakeARisingPaceForADifferenceOfBuilds) {
  constexpr double rise = 0.004;
  std::mt19937_64 generator{3};
  std::normal_distribution<double> noise{0, 0.01};
  std::vector<Reading> readings;
  for (std::size_t round = 0; round < 26; ++round) {
    double const pace = rise * static_cast<double>(round);
    for (std::size_t const position : {0U, 1U})
      readings.push_back({position,
                          round,
                          pace + 0.1 * static_cast<double>(position) + noise(generator),
                          round / 13});
  }
  auto const belief = believe(alike(1), readings, {});
  EXPECT_LT(belief.builds, 0.1);
  EXPECT_GT(belief.changed_in(0), 0.999);
}

TEST(Posterior, RecognizesAnOutlier) {
  std::vector<std::pair<std::size_t, double>> values{{1, 1.45}};
  for (double const wobble : {0.01, -0.01, 0.005, -0.005, 0.0})
    values.insert(values.end(), {{0, 1 + wobble}, {1, 1 - wobble}, {2, 1.1 + wobble}});
  auto const belief = believe(alike(2), read(values), {});
  EXPECT_GT(belief.changed_in(1), 0.99);
  EXPECT_LT(belief.noise, 0.03);
}

TEST(Posterior, DistinguishesTwoChangesFromOne) {
  std::vector<std::pair<std::size_t, double>> values;
  for (double const wobble : {0.004, -0.004, 0.002, -0.002, 0.003, -0.003})
    values.insert(values.end(), {{0, 1 + wobble}, {1, 1.1 - wobble}, {2, 1.18 + wobble}});
  Expectation expectation;
  expectation.builds_differ = 0;  // three builds are too few to estimate it
  auto const belief = believe(alike(2), read(values), expectation);
  EXPECT_GT(belief.changed_in(0), 0.99);
  EXPECT_GT(belief.changed_in(1), 0.99);
}

/// Builds that are each read `count` times, within half a percent.
std::vector<Reading> read_often(std::vector<std::pair<std::size_t, double>> const& builds,
                                int count = 4) {
  std::vector<std::pair<std::size_t, double>> values;
  for (int i = 0; i < count; ++i)
    for (auto const& [position, level] : builds)
      values.emplace_back(position, level + (i % 2 == 0 ? 0.003 : -0.003));
  return read(values);
}

TEST(Posterior, DoesNotTakeDifferentBuildsForChanges) {
  auto const belief = believe(alike(64),
                              read_often({{0, 1.00},
                                          {8, 0.97},
                                          {16, 1.04},
                                          {24, 1.00},
                                          {32, 0.96},
                                          {40, 1.03},
                                          {48, 0.98},
                                          {56, 1.01},
                                          {64, 1.03}}),
                              {});
  EXPECT_GT(belief.no_change(), 0.75);
  EXPECT_GT(belief.builds, 4);
}

TEST(Posterior, IsLessSureOfAChangeWhereBuildsDifferByAsMuch) {
  auto const readings = read_often({{0, 1.0}, {1, 1.08}});
  Expectation expectation;
  EXPECT_LT(believe(alike(1), readings, expectation).no_change(), 0.01);
  expectation.builds_measured = 0.04;
  EXPECT_GT(believe(alike(1), readings, expectation).no_change(), 0.1);
}

TEST(Posterior, LearnsMoreFromTwoBuildsOfOneCommitThanFromOneReadTwice) {
  auto readings = read_often({{0, 1.0}, {1, 1.12}});
  Expectation expectation;
  expectation.builds_measured = 0.02;
  auto const once = believe(alike(1), readings, expectation).no_change();
  auto rebuilt = readings;
  for (auto& reading : rebuilt) {
    reading.layout = 1;
    reading.round += readings.size();
  }
  auto again = readings;
  for (auto& reading : again)
    reading.round += readings.size();
  auto const with = [&](std::vector<Reading> const& more) {
    auto all = readings;
    all.insert(all.end(), more.begin(), more.end());
    return believe(alike(1), all, expectation).no_change();
  };
  EXPECT_LT(with(rebuilt), once / 5);
  EXPECT_GT(with(again), once / 5);
}

TEST(Posterior, ManySmallChangesAreGradual) {
  auto const belief = believe(alike(64),
                              read_often({{0, 1.000},
                                          {8, 1.014},
                                          {16, 1.024},
                                          {24, 1.039},
                                          {32, 1.049},
                                          {40, 1.064},
                                          {48, 1.074},
                                          {56, 1.089},
                                          {64, 1.100}},
                                         10),
                              {});
  EXPECT_GT(belief.gradual(), 0.95);
}

TEST(Posterior, IgnoresReadingsThatAreNotFinite) {
  auto readings = read_often({{0, 1.0}, {4, 1.1}});
  auto const expected = believe(alike(8), readings, {});
  for (double const nothing : {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e200})
    readings.push_back({6, readings.size(), nothing});
  auto const belief = believe(alike(8), readings, {});
  EXPECT_EQ(belief.positions, expected.positions);
  EXPECT_EQ(belief.no_change(), expected.no_change());
}

TEST(Posterior, LooksOnlyInTheAskedDirection) {
  auto const faster = read({{0, 1.0}, {1, 0.9}, {0, 1.01}, {1, 0.91}, {0, 1.0}, {1, 0.9}});
  Expectation expectation;
  EXPECT_GT(believe(alike(1), faster, expectation).no_change(), 0.5);
  expectation.direction = Direction::decrease;
  EXPECT_LT(believe(alike(1), faster, expectation).no_change(), 0.01);
  expectation.direction = Direction::both;
  EXPECT_LT(believe(alike(1), faster, expectation).no_change(), 0.01);
}

constexpr double tails = 5;  // of deviations

/// Odds of a change to none by brute force: integrals over level, size and deviation.
double odds_by_integration(std::vector<Reading> const& readings, Expectation const& expectation) {
  auto const log_likelihood = [&](double level, double size, double deviation) {
    double sum = 0;
    for (auto const& reading : readings) {
      double const z = (reading.level - level - (reading.position > 0 ? size : 0)) / deviation;
      sum -= (tails + 1) / 2 * std::log1p(z * z / tails) + std::log(deviation);
    }
    return sum;
  };
  double none = 0;
  double one = 0;
  for (double log_deviation = -7; log_deviation < 0; log_deviation += 0.1) {
    double const deviation = std::exp(log_deviation);
    // Inverse gamma of the variance, in terms of the logarithm of the deviation.
    double const a = expectation.degrees / 2;
    double const b = a * expectation.noise * expectation.noise;
    double const prior = -2 * a * log_deviation - b / (deviation * deviation);
    for (double level = 0.9; level < 1.3; level += 0.004) {
      none += std::exp(prior + log_likelihood(level, 0, deviation)) * 0.004;
      for (double size = expectation.least; size < 0.6; size += 0.008) {
        double const density = 2 / expectation.excess *
                               std::pow(1 + (size - expectation.least) / expectation.excess, -3);
        one += std::exp(prior + log_likelihood(level, size, deviation)) * density * 0.004 * 0.008;
      }
    }
  }
  return one / none * (1 - expectation.no_change) / expectation.no_change;
}

TEST(Posterior, AgreesWithIntegrals) {
  for (double const shift : {0.0, 0.04, 0.07, 0.1}) {
    // One round, so that it does not matter what it adds.
    std::vector<Reading> readings;
    for (double const noise : {0.0, 0.03, -0.01, 0.012, -0.022, 0.004, 0.041, -0.007}) {
      readings.push_back({0, 0, 1.0 + noise});
      readings.push_back({1, 0, 1.0 + shift - noise / 2});
    }
    Expectation expectation;
    expectation.several = 0;
    expectation.builds_differ = 0;
    auto const belief = believe(alike(1), readings, expectation);
    double const log_odds = std::log((1 - belief.no_change()) / belief.no_change());
    double const expected = std::log(odds_by_integration(readings, expectation));
    // Far from `least` the tail of a size's distribution is taken for Student's.
    EXPECT_NEAR(log_odds, expected, 0.3 + 0.1 * std::abs(expected)) << shift;
  }
}

}  // namespace
}  // namespace torchwatch::bisect
