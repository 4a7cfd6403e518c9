#include "bisect/search/build_variation.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace torchwatch::bisect {
namespace {

/// Builds of one commit: each has a level of its own, and so has each process.
class Builds {
 public:
  Builds(double builds, double processes) : builds_{builds}, processes_{processes} {}

  double build() { return builds_ * normal_(generator_); }

  std::vector<Pair> pairs(int count, double before, double after) {
    std::vector<Pair> pairs;
    for (int i = 0; i < count; ++i)
      pairs.push_back({10 * std::exp(before + process()), 10 * std::exp(after + process())});
    return pairs;
  }

 private:
  double process() { return processes_ * normal_(generator_); }

  double builds_;
  double processes_;
  std::mt19937_64 generator_{20260101};
  std::normal_distribution<> normal_;
};

/// A change of +10%, measured in two layouts.
BuildDifference proof_on(Builds& made) {
  double const parent = made.build();
  double const suspect = std::log(1.1) + made.build();
  auto const usual = made.pairs(13, parent, suspect);
  double const parent_again = made.build();
  double const suspect_again = std::log(1.1) + made.build();
  return difference_of(usual, made.pairs(13, parent_again, suspect_again)).value();
}

std::vector<BuildDifference> proofs_on(Builds made, int count) {
  std::vector<BuildDifference> differences;
  for (int i = 0; i < count; ++i)
    differences.push_back(proof_on(made));
  return differences;
}

TEST(BuildVariation, IsEstimatedFromProofsInTwoLayouts) {
  EXPECT_NEAR(build_variation(proofs_on(Builds{0.03, 0.01}, 400)).value(), 0.03, 0.005);
  EXPECT_NEAR(build_variation(proofs_on(Builds{0.01, 0.01}, 400)).value(), 0.01, 0.002);
}

TEST(BuildVariation, IsEstimatedFromTwoBuildsOfOneCommit) {
  Builds made{0.02, 0.01};
  std::vector<BuildDifference> differences;
  for (int i = 0; i < 400; ++i) {
    double const one = made.build();
    double const other = made.build();
    differences.push_back(difference_of(made.pairs(10, one, other)).value());
  }
  EXPECT_NEAR(build_variation(differences).value(), 0.02, 0.002);
}

TEST(BuildVariation, ExcludesTheNoiseOfProcesses) {
  EXPECT_LT(build_variation(proofs_on(Builds{0, 0.05}, 400)).value(), 0.005);
}

TEST(BuildVariation, IsRobustAgainstAFewOutliers) {
  auto differences = proofs_on(Builds{0.003, 0.001}, 20);
  for (std::size_t i = 0; i < 6; ++i)
    differences[i].size = 0.4;
  EXPECT_LT(build_variation(differences).value(), 0.01);
}

TEST(BuildVariation, IsUnknownFromAFewDifferences) {
  EXPECT_FALSE(build_variation(proofs_on(Builds{0.03, 0.01}, 7)));
  EXPECT_TRUE(build_variation(proofs_on(Builds{0.03, 0.01}, 8)));
}

TEST(BuildVariation, IgnoresPairsWithoutARatio) {
  std::vector<Pair> const pairs{{0, 1}, {1, NAN}, {HUGE_VAL, 1}, {1, -1}, {1, 1}, {1, 1}, {1, 1}};
  EXPECT_FALSE(difference_of(pairs));
  std::vector<Pair> const good(4, {2, 2});
  EXPECT_FALSE(difference_of(good, pairs));
  EXPECT_EQ(difference_of(good)->size, 0);
}

}  // namespace
}  // namespace torchwatch::bisect
