#include "daemon/search_costs.h"

#include <gtest/gtest.h>

namespace torchwatch {
namespace {

TEST(SearchCosts, AssumesAnHourABuildUntilItKnows) {
  SearchCosts fresh{std::nullopt};
  EXPECT_EQ(fresh.costs().build(3), 3600);
  SearchCosts experienced{90};
  EXPECT_EQ(experienced.costs().build(3), 90);
  experienced.built(0, 50);
  experienced.built(8, 70);
  EXPECT_EQ(experienced.costs().build(3), 60);
}

TEST(SearchCosts, WhatIsThereCostsNothing) {
  SearchCosts costs{90};
  costs.built(3, 0);
  EXPECT_EQ(costs.costs().build(3), 0);
  EXPECT_EQ(costs.costs().build(4), 90) << "a build that was there says nothing of others";
}

TEST(SearchCosts, AReadingCostsTheMeanOfThose) {
  SearchCosts costs{90};
  costs.measured(8);
  costs.measured(12);
  EXPECT_EQ(costs.costs().reading, 10);
}

TEST(SearchCosts, NextToABrokenBuildIsAnotherMoreLikely) {
  SearchCosts costs{90};
  costs.built(0, 0);
  costs.built(32, 0);
  costs.failed(16);
  EXPECT_EQ(costs.costs().build(16), 90);
  EXPECT_LT(costs.costs().chance(17), costs.costs().chance(24));
}

}  // namespace
}  // namespace torchwatch
