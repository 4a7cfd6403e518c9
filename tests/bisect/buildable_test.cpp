#include "bisect/search/buildable.h"

#include <gtest/gtest.h>

namespace torchwatch::bisect {
namespace {

TEST(ChanceToBuild, MostCommitsBuild) {
  EXPECT_NEAR(chance_to_build({}, 5), 0.97, 1e-9);
}

TEST(ChanceToBuild, IsCertainForATriedCommit) {
  EXPECT_EQ(chance_to_build({{5, true}}, 5), 1);
  EXPECT_EQ(chance_to_build({{5, false}}, 5), 0);
}

TEST(ChanceToBuild, RisesWithTheDistanceFromABrokenCommit) {
  std::map<std::size_t, bool> const tried{{0, true}, {32, false}, {64, true}};
  double before = chance_to_build(tried, 33);
  EXPECT_LT(before, 0.25);
  for (std::size_t position = 34; position < 64; ++position) {
    double const chance = chance_to_build(tried, position);
    EXPECT_GT(chance, before) << position;
    before = chance;
  }
  EXPECT_GT(before, 0.97);
}

TEST(ChanceToBuild, IsLowBetweenTwoBrokenCommits) {
  EXPECT_LT(chance_to_build({{10, false}, {14, false}}, 12), 0.1);
}

TEST(ChanceToBuild, IgnoresDistantCommits) {
  EXPECT_NEAR(chance_to_build({{10, false}}, 200), 0.97, 1e-6);
}

}  // namespace
}  // namespace torchwatch::bisect
