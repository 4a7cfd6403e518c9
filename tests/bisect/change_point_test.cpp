#include "bisect/change_point.h"

#include <cmath>
#include <random>

#include <gmock/gmock.h>

namespace torchwatch::bisect {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

/// Logarithms of `count` nights at `level`, each off by `noise`.
class Nights {
 public:
  explicit Nights(unsigned seed, double noise = 0.02) : random_{seed}, noise_{0, noise} {}

  Nights& then(std::size_t count, double level) {
    for (std::size_t i = 0; i < count; ++i)
      values_.push_back(std::log(level) + noise_(random_));
    return *this;
  }

  std::vector<double> const& values() const { return values_; }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> noise_;
  std::vector<double> values_;
};

TEST(ChangePoint, FindsAStepItsPlaceAndItsSize) {
  auto const points = change_points(Nights{1}.then(60, 10).then(40, 11).values());
  ASSERT_THAT(points, SizeIs(1));
  auto const& point = points.front();
  EXPECT_NEAR(static_cast<double>(point.at), 60, 1);
  EXPECT_LE(point.earliest, 60U);
  EXPECT_GE(point.latest, 60U);
  EXPECT_LT(point.latest - point.earliest, 8U);
  EXPECT_LT(point.low, std::log(1.1));
  EXPECT_GT(point.high, std::log(1.1));
  EXPECT_NEAR(point.change, std::log(1.1), 0.02);
}

TEST(ChangePoint, FindsSeveralSteps) {
  auto const points =
      change_points(Nights{2}.then(50, 10).then(50, 12).then(50, 11).then(50, 14).values());
  ASSERT_THAT(points, SizeIs(3));
  EXPECT_GT(points[0].low, 0);
  EXPECT_LT(points[1].high, 0);
  EXPECT_GT(points[2].low, 0);
}

TEST(ChangePoint, BelievesALargeStepAfterFourNightsNotAfterTwo) {
  EXPECT_THAT(change_points(Nights{3}.then(100, 10).then(2, 15).values()), IsEmpty());
  auto const points = change_points(Nights{3}.then(100, 10).then(4, 15).values());
  ASSERT_THAT(points, SizeIs(1));
  EXPECT_EQ(points.front().at, 100U);
}

TEST(ChangePoint, IgnoresStraysHoweverFar) {
  auto const flat = Nights{4}.then(50, 10).then(1, 90).then(50, 10).then(2, 1).then(50, 10);
  EXPECT_THAT(change_points(flat.values()), IsEmpty());
}

TEST(ChangePoint, SaysNothingOfShortHistories) {
  EXPECT_THAT(change_points({}), IsEmpty());
  EXPECT_THAT(change_points(Nights{5}.then(4, 10).then(5, 20).values()), IsEmpty());
  EXPECT_THAT(change_points(Nights{5}.then(5, 10).then(5, 20).values()), SizeIs(1));
}

TEST(ChangePoint, TakesExactValuesAtTheirWord) {
  std::vector<double> bytes(30, 4096);
  EXPECT_THAT(change_points(bytes), IsEmpty());
  bytes.resize(40, 4160);
  auto const points = change_points(bytes);
  ASSERT_THAT(points, SizeIs(1));
  EXPECT_EQ(points.front().at, 30U);
  EXPECT_EQ(points.front().change, 64);
  EXPECT_EQ(points.front().low, 64);
  EXPECT_EQ(points.front().high, 64);
}

TEST(ChangePoint, IntervalsHoldTheTruthAsOftenAsTheySay) {
  int found = 0;
  int places_missed = 0;
  int changes_missed = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    auto const points = change_points(Nights{seed}.then(40, 10).then(40, 10.5).values());
    if (points.size() != 1) continue;
    auto const& point = points.front();
    ++found;
    places_missed += point.earliest > 40 || point.latest < 40 ? 1 : 0;
    changes_missed += point.low > std::log(1.05) || point.high < std::log(1.05) ? 1 : 0;
  }
  EXPECT_GT(found, 1900);
  // Twice the error: levels are estimated too, and a trial has its own luck.
  EXPECT_LT(places_missed, 2 * change_point_error * found);
  EXPECT_LT(changes_missed, 2 * change_point_error * found);
}

TEST(ChangePoint, RarelySpeaksOfFlatHistories) {
  std::mt19937_64 random{6};
  std::student_t_distribution<double> heavy{3};
  int spoken = 0;
  constexpr int trials = 1000;
  for (std::size_t trial = 0; trial < trials; ++trial) {
    std::vector<double> values(least_history + trial % 200);
    for (auto& value : values)
      value = heavy(random);
    spoken += change_points(values).empty() ? 0 : 1;
  }
  EXPECT_LE(spoken, trials / 100);
}

}  // namespace
}  // namespace torchwatch::bisect
