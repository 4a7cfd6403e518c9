#include "bisect/compare/segmentation.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gmock/gmock.h>

namespace torchwatch::bisect {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// The least cost of one stretch over all levels. Between the edges of its values' bounds it is a
/// parabola, so trying the mean of every set of values that some level leaves unbounded is exact.
double cost_of_stretch(std::span<double const> values, double outlier) {
  std::vector<double> edges;
  for (double const value : values) {
    edges.push_back(value - outlier);
    edges.push_back(value + outlier);
  }
  std::ranges::sort(edges);
  double least = static_cast<double>(values.size()) * outlier * outlier;
  for (std::size_t i = 1; i < edges.size(); ++i) {
    double const inside = (edges[i - 1] + edges[i]) / 2;
    double sum = 0;
    int count = 0;
    for (double const value : values) {
      if (std::abs(value - inside) >= outlier) continue;
      sum += value;
      ++count;
    }
    if (count == 0) continue;
    double cost = 0;
    for (double const value : values)
      cost += std::min((value - sum / count) * (value - sum / count), outlier * outlier);
    least = std::min(least, cost);
  }
  return least;
}

double cost_of(std::span<double const> values,
               std::vector<std::size_t> cuts,
               double penalty,
               double outlier) {
  double cost = penalty * static_cast<double>(cuts.size());
  cuts.push_back(values.size());
  std::size_t begin = 0;
  for (auto const end : cuts) {
    cost += cost_of_stretch(values.subspan(begin, end - begin), outlier);
    begin = end;
  }
  return cost;
}

/// The least cost over all cuts, by trying every last stretch.
double least_cost(std::span<double const> values, double penalty, double outlier) {
  std::vector<double> least{-penalty};
  for (std::size_t end = 1; end <= values.size(); ++end) {
    double best = HUGE_VAL;
    for (std::size_t begin = 0; begin < end; ++begin)
      best = std::min(
          best,
          least[begin] + penalty + cost_of_stretch(values.subspan(begin, end - begin), outlier));
    least.push_back(best);
  }
  return least.back();
}

TEST(Segmentation, CutsWhereTheLevelChanges) {
  std::vector<double> const values{0, 1, 0, 1, 0, 9, 10, 9, 10, 9};
  EXPECT_THAT(segmentation(values, 10, 3), ElementsAre(5));
  EXPECT_THAT(segmentation(values, 1000, 3), IsEmpty());
}

TEST(Segmentation, DoesNotCutConstants) {
  EXPECT_THAT(segmentation({}, 1, 3), IsEmpty());
  EXPECT_THAT(segmentation(std::vector{7.0, 7.0, 7.0}, 1, 3), IsEmpty());
}

TEST(Segmentation, HasTheLeastCostOfAllCuts) {
  std::mt19937_64 random{1};
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> shift{-8, 8};
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> values;
    double level = 0;
    for (int i = 0; i < 30; ++i) {
      if (i % 7 == 0) level += shift(random);
      values.push_back(level + normal(random) * (i % 11 == 0 ? 20 : 1));
    }
    auto const cuts = segmentation(values, 12, 3);
    EXPECT_NEAR(cost_of(values, cuts, 12, 3), least_cost(values, 12, 3), 1e-6) << trial;
  }
}

TEST(Segmentation, IsExactForValuesFarApart) {
  std::vector<double> const values{0, 1, 0, 1, 1e12, 1e12 + 1, 1e12, 1e12 + 1, 1e300, 1e300, 1e300};
  EXPECT_THAT(segmentation(values, 10, 3), ElementsAre(4, 8));
  EXPECT_THAT(segmentation({values.data(), 10}, 20, 3), ElementsAre(4));
}

}  // namespace
}  // namespace torchwatch::bisect
