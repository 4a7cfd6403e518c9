#include "bisect/compare/evidence.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "host.h"
#include <gtest/gtest.h>

namespace torchwatch::bisect {
namespace {

constexpr double usual = 0.04;

/// Evidence of `count` pairs that all changed by `change`.
Evidence evidence_of(int count, double change) {
  Evidence evidence{usual};
  for (int i = 0; i < count; ++i)
    evidence.add(1, 1 + change);
  return evidence;
}

TEST(Evidence, IsEmptyWithoutPairs) {
  Evidence const evidence{usual};
  EXPECT_NEAR(evidence.log_above(0), 0, 1e-12);
  EXPECT_NEAR(evidence.log_below(0), 0, 1e-12);
}

TEST(Evidence, ForOneSideIsAgainstTheOther) {
  auto const evidence = evidence_of(10, 0.2);
  EXPECT_GT(evidence.log_above(0), 4);
  EXPECT_LT(evidence.log_below(0), 0);
  EXPECT_GT(evidence.log_below(0.4), 4);
  EXPECT_LT(evidence.log_above(0.4), 0);
}

TEST(Evidence, FallsAsTheChangeInQuestionRises) {
  auto const evidence = evidence_of(7, 0.1);
  double above = HUGE_VAL;
  for (double change = -0.5; change < 0.5; change += 0.01) {
    EXPECT_LE(evidence.log_above(change), above + 1e-9) << change;
    above = evidence.log_above(change);
  }
}

TEST(Evidence, NeedsPairsForChangesOfAnySize) {
  // A fair coin falls nine times on one side in one of 512 cases.
  EXPECT_EQ(evidence_of(3, 5).interval(1e-4).low, -HUGE_VAL);
  EXPECT_GT(evidence_of(12, 5).interval(1e-4).low, 0);
}

TEST(Evidence, EstimatesAreRobustAgainstOutliers) {
  auto evidence = evidence_of(9, 0.1);
  evidence.add(1, 9);
  evidence.add(1, 9);
  EXPECT_NEAR(evidence.change(), 0.1, 1e-9);
  EXPECT_NEAR(evidence.typical_change(), 0.1, 1e-9);
}

struct Kind {
  char const* name;
  Host::Noise noise;
};

class FairBet : public testing::TestWithParam<Kind> {};

/// Checks Ville's inequality: the e-value of a change that did not happen ever reaches 1/p in at
/// most the share p of sequences.
TEST_P(FairBet, SeldomReachesALargeEValue) {
  int const sequences = 400 * effort;
  Host host{GetParam().noise, 3};
  int ten = 0;
  int hundred = 0;
  for (int i = 0; i < sequences; ++i) {
    Evidence evidence{usual};
    double most = 0;
    for (int pair = 0; pair < 40; ++pair) {
      auto const [before, after] = host.pair(100, 100);
      evidence.add(std::log(before), std::log(after));
      most = std::max(most, evidence.log_above(0));
    }
    ten += most >= std::numbers::ln10 ? 1 : 0;
    hundred += most >= std::log(100.0) ? 1 : 0;
  }
  // Three standard deviations of the count are allowed on top.
  auto const allowed = [&](double p) {
    return p * sequences + 3 * std::sqrt(p * sequences);
  };
  EXPECT_LE(ten, allowed(0.1));
  EXPECT_LE(hundred, allowed(0.01));
  EXPECT_GT(ten, 0) << "the bets are not that timid";
}

INSTANTIATE_TEST_SUITE_P(Kinds,
                         FairBet,
                         testing::Values(Kind{"normal", {.sigma = 0.03}},
                                         Kind{"noisy", {.sigma = 0.08}},
                                         Kind{"heavy_tails", {.sigma = 0.05, .heavy_tails = true}},
                                         Kind{"bursts", {.sigma = 0.03, .bursts = 0.1}},
                                         Kind{"drift", {.sigma = 0.03, .drift = 0.1}}),
                         [](auto const& kind) { return kind.param.name; });

}  // namespace
}  // namespace torchwatch::bisect
