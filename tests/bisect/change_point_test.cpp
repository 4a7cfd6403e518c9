#include "bisect/compare/change_point.h"

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

TEST(ChangePoint, FindsPlaceAndSizeOfAStep) {
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

TEST(ChangePoint, ReportsALargeStepAfterFourNightsNotAfterTwo) {
  EXPECT_THAT(change_points(Nights{3}.then(100, 10).then(2, 15).values()), IsEmpty());
  auto const points = change_points(Nights{3}.then(100, 10).then(4, 15).values());
  ASSERT_THAT(points, SizeIs(1));
  EXPECT_EQ(points.front().at, 100U);
}

TEST(ChangePoint, IgnoresOutliersAtAnyDistance) {
  auto const flat = Nights{4}.then(50, 10).then(1, 90).then(50, 10).then(2, 1).then(50, 10);
  EXPECT_THAT(change_points(flat.values()), IsEmpty());
}

TEST(ChangePoint, FindsNothingInShortHistories) {
  EXPECT_THAT(change_points({}), IsEmpty());
  EXPECT_THAT(change_points(Nights{5}.then(4, 10).then(5, 20).values()), IsEmpty());
  EXPECT_THAT(change_points(Nights{5}.then(5, 10).then(5, 20).values()), SizeIs(1));
}

TEST(ChangePoint, FindsAnySmallStepOfAnExactSeries) {
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

constexpr std::size_t year = 365;

/// Bytes of a year of nights: 4096, and `outlying(random)` in the share `share` of them.
template <typename Outlying>
std::vector<double> exact(double share, std::mt19937_64& random, Outlying outlying) {
  std::bernoulli_distribution is_outlier{share};
  std::vector<double> bytes(year, 4096);
  for (auto& value : bytes)
    if (is_outlier(random)) value = outlying(random);
  return bytes;
}

/// The number of 200 histories of a year that have a change point.
template <typename History>
int reported_in(History history) {
  int reported = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random{seed};
    reported += change_points(history(random)).empty() ? 0 : 1;
  }
  return reported;
}

TEST(ChangePoint, TreatsReturningValuesOfAnExactSeriesAsOutliers) {
  std::uniform_real_distribution<double> any{4000, 9000};
  EXPECT_EQ(reported_in([&](auto& random) { return exact(0.01, random, any); }), 0);
  EXPECT_EQ(reported_in([&](auto& random) { return exact(0.2, random, any); }), 0);
  auto const fixed = [](double value) {
    return [value](auto&) {
      return value;
    };
  };
  EXPECT_EQ(reported_in([&](auto& random) { return exact(0.01, random, fixed(8192)); }), 0);
  EXPECT_EQ(reported_in([&](auto& random) { return exact(0.2, random, fixed(4160)); }), 0);
  EXPECT_EQ(reported_in([&](auto& random) { return exact(0.5, random, fixed(4160)); }), 0);
}

TEST(ChangePoint, TreatsAVisitOfFiveNightsAsOutliersAndALongerOneAsTwoChanges) {
  for (std::size_t const around : {10U, 50U, 500U}) {
    for (std::size_t nights = 1; nights <= 8; ++nights) {
      std::vector<double> bytes(around, 4096);
      bytes.resize(around + nights, 4160);
      bytes.resize(2 * around + nights, 4096);
      EXPECT_THAT(change_points(bytes), SizeIs(nights <= 5 ? 0 : 2)) << around << " " << nights;
    }
  }
}

TEST(ChangePoint, ReportsAStepOfAnExactSeriesAfterThreeNights) {
  for (std::size_t const before : {10U, 100U, 1000U}) {
    std::vector<double> bytes(before, 4096);
    bytes.resize(before + 2, 4160);
    EXPECT_THAT(change_points(bytes), IsEmpty()) << before;
    bytes.push_back(4160);
    ASSERT_THAT(change_points(bytes), SizeIs(1)) << before;
    EXPECT_EQ(change_points(bytes).front().at, before);
  }
}

TEST(ChangePoint, FindsEachStepOfAnExactStairAmongOutliers) {
  std::vector<double> bytes;
  for (double const level : {4096, 4160, 5000, 4800, 4096})
    bytes.resize(bytes.size() + 20, level);
  for (std::size_t const outlying : {5U, 33U, 70U, 97U})
    bytes[outlying] = 9000 + static_cast<double>(outlying);
  auto const points = change_points(bytes);
  ASSERT_THAT(points, SizeIs(4));
  std::vector<double> const changes{64, 840, -200, -704};
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(points[i].at, 20 * (i + 1));
    EXPECT_EQ(points[i].change, changes[i]);
    EXPECT_EQ(points[i].low, changes[i]);
    EXPECT_EQ(points[i].high, changes[i]);
  }
}

TEST(ChangePoint, FindsAStepWhereOneNightInFiveIsAnOutlier) {
  std::mt19937_64 random{8};
  auto bytes = exact(0.2, random, [](auto&) { return 5000; });
  for (std::size_t i = 200; i < year; ++i)
    bytes[i] *= 1.03;
  auto const points = change_points(bytes);
  ASSERT_THAT(points, SizeIs(1));
  EXPECT_NEAR(static_cast<double>(points.front().at), 200, 3);
}

TEST(ChangePoint, FindsNothingInTheTicksOfACoarseClock) {
  std::normal_distribution<double> noise{0, 0.01};
  auto const ticks = [&](auto& random) {
    std::vector<double> values(year);
    for (auto& value : values)
      value = std::log(std::round(30.3 * std::exp(noise(random))));
    return values;
  };
  EXPECT_EQ(reported_in(ticks), 0);
}

/// A year of nights of variance 1 that correlate with the night before by `alike`.
std::vector<double> wandering(double alike, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<double> values;
  double pace = normal(random);
  for (std::size_t night = 0; night < year; ++night) {
    values.push_back(pace);
    pace = alike * pace + std::sqrt(1 - alike * alike) * normal(random);
  }
  return values;
}

TEST(ChangePoint, RarelyReportsTheWanderingPaceOfAHost) {
  for (double const alike : {0.5, 0.7, 0.9})
    EXPECT_LE(reported_in([=](auto& random) { return wandering(alike, random); }), 4) << alike;
}

TEST(ChangePoint, FindsAStepFarLargerThanTheWandering) {
  std::mt19937_64 random{9};
  auto values = wandering(0.7, random);
  for (std::size_t i = 150; i < year; ++i)
    values[i] += 5;
  auto const points = change_points(values);
  ASSERT_THAT(points, SizeIs(1));
  EXPECT_NEAR(static_cast<double>(points.front().at), 150, 3);
  EXPECT_LT(points.front().low, 5);
  EXPECT_GT(points.front().high, 5);
}

TEST(ChangePoint, SkipsValuesThatAreNotFiniteButCountsThemInIndices) {
  auto values = Nights{10}.then(60, 10).then(40, 15).values();
  for (std::size_t const night : {0U, 7U, 30U, 58U, 80U})
    values[night] = std::nan("");
  values[20] = HUGE_VAL;
  values[90] = -HUGE_VAL;
  auto const points = change_points(values);
  ASSERT_THAT(points, SizeIs(1));
  EXPECT_EQ(points.front().at, 60U);
  EXPECT_NEAR(points.front().change, std::log(1.5), 0.02);
  EXPECT_THAT(change_points(std::vector<double>(50, std::nan(""))), IsEmpty());
}

TEST(ChangePoint, ReturnsIndicesInsideAnyHistory) {
  std::mt19937_64 random{11};
  std::vector<double> const odd{
      0, -0.0, 1, -1, 1e-320, 1e308, -1e308, 1.0000000000000002, HUGE_VAL, std::nan("")};
  for (int trial = 0; trial < 3000; ++trial) {
    std::vector<double> values;
    std::size_t const length = random() % 60;
    std::size_t const kinds = 1 + random() % odd.size();
    for (std::size_t i = 0; i < length; ++i)
      values.push_back(i > 0 && random() % 3 > 0 ? values.back() : odd[random() % kinds]);
    std::size_t before = 0;
    for (auto const& point : change_points(values)) {
      EXPECT_LT(before, point.at);
      EXPECT_LE(point.earliest, point.at);
      EXPECT_LE(point.at, point.latest);
      EXPECT_LT(point.latest, length);
      before = point.at;
    }
  }
}

TEST(ChangePoint, IntervalsHoldTheTruthAsOftenAsStated) {
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
  // Twice the error is allowed: levels are estimated too, and counts vary by chance.
  EXPECT_LT(places_missed, 2 * change_point_error * found);
  EXPECT_LT(changes_missed, 2 * change_point_error * found);
}

TEST(ChangePoint, RarelyReportsAChangeInFlatHistories) {
  std::mt19937_64 random{6};
  std::student_t_distribution<double> heavy{3};
  int reported = 0;
  constexpr int trials = 1000;
  for (std::size_t trial = 0; trial < trials; ++trial) {
    std::vector<double> values(least_history + trial % 200);
    for (auto& value : values)
      value = heavy(random);
    reported += change_points(values).empty() ? 0 : 1;
  }
  EXPECT_LE(reported, trials / 100);
}

}  // namespace
}  // namespace torchwatch::bisect
