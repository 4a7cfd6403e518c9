#include "daemon/bisection/cost_estimates.h"

#include <gtest/gtest.h>

namespace torchwatch::bisection {
namespace {

TEST(CostEstimates, AssumesAnHourABuildUntilItKnows) {
  CostEstimates fresh{std::nullopt, std::nullopt};
  EXPECT_EQ(fresh.costs(false).build(3), 3600);
  CostEstimates experienced{90, std::nullopt};
  EXPECT_EQ(experienced.costs(false).build(3), 90);
  experienced.built(0, 50);
  experienced.built(8, 70);
  EXPECT_EQ(experienced.costs(false).build(3), 60);
}

TEST(CostEstimates, AnIncrementalBuildHasACostOfItsOwn) {
  CostEstimates costs{3600, std::nullopt};
  EXPECT_EQ(costs.costs(true).build(3), 3600) << "nothing was measured yet";
  costs.built(0, 4000, false);
  costs.built(8, 300, true);
  costs.built(4, 100, true);
  EXPECT_EQ(costs.costs(true).build(3), 200);
  EXPECT_EQ(costs.costs(false).build(3), 4000);
  EXPECT_EQ((CostEstimates{std::nullopt, 200}.costs(false).build(3)), 200);
}

TEST(CostEstimates, WhatIsThereCostsNothing) {
  CostEstimates costs{90, std::nullopt};
  costs.built(3);
  EXPECT_EQ(costs.costs(false).build(3), 0);
  EXPECT_EQ(costs.costs(false).build(4), 90) << "an existing build shows nothing about others";
}

TEST(CostEstimates, AReadingCostsTheMeanOfThose) {
  CostEstimates costs{90, std::nullopt};
  costs.measured(8);
  costs.measured(12);
  EXPECT_EQ(costs.costs(false).reading, 10);
}

TEST(CostEstimates, NextToABrokenBuildIsAnotherMoreLikely) {
  CostEstimates costs{90, std::nullopt};
  costs.built(0);
  costs.built(32);
  costs.failed(16);
  EXPECT_EQ(costs.costs(false).build(16), 0) << "it is known to be unbuildable";
  EXPECT_LT(costs.costs(false).chance(17), costs.costs(false).chance(24));
}

}  // namespace
}  // namespace torchwatch::bisection
