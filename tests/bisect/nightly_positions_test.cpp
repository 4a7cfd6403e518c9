#include <numeric>
#include <string>

#include <gmock/gmock.h>

#include "bisect/search/priors.h"

namespace torchwatch::bisect {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;

CommitSha sha(int number) {
  return CommitSha{std::string(38, 'c') + std::to_string(10 + number)};
}

/// The commits 1 to `count`, which come after commit 0.
std::vector<Commit> suspects(int count) {
  std::vector<Commit> commits;
  for (int i = 1; i <= count; ++i)
    commits.push_back({sha(i), "", "", {}, {}});
  return commits;
}

TEST(NightlyPositions, AreSortedAndUnique) {
  std::vector const nightlies{sha(20), sha(4), sha(0), sha(8), sha(4), sha(2)};
  EXPECT_THAT(nightly_positions(nightlies, sha(0), suspects(8)), ElementsAre(0, 2, 4, 8));
}

TEST(NightlyPositions, AreEmptyWithoutBothEndsAndANightlyBetween) {
  EXPECT_THAT(nightly_positions(std::vector{sha(0), sha(8)}, sha(0), suspects(8)), IsEmpty());
  EXPECT_THAT(nightly_positions(std::vector{sha(0), sha(4)}, sha(0), suspects(8)), IsEmpty());
  EXPECT_THAT(nightly_positions(std::vector{sha(4), sha(8)}, sha(0), suspects(8)), IsEmpty());
  EXPECT_THAT(nightly_positions({}, sha(0), suspects(8)), IsEmpty());
}

TEST(PriorAfterNightlies, MovesWeightToTheNightThatChanged) {
  std::vector<std::size_t> const positions{0, 2, 4, 8};
  std::vector<double> const changed{0, 0.99, 0.01};
  auto const weights = prior_after_nightlies(std::vector(8, 1.0), positions, changed);
  EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 8, 1e-9);
  EXPECT_NEAR(weights[2] + weights[3], 8 * (0.05 * 2 / 8 + 0.95 * 0.99), 1e-9);
  EXPECT_NEAR(weights[0], 0.05, 1e-9) << "a package may hide what its commits did";
  EXPECT_THAT(weights[2], DoubleNear(weights[3], 1e-9));
}

TEST(PriorAfterNightlies, IsSharedByTheNightsOfDifferentSeries) {
  std::vector<std::size_t> const positions{0, 4, 8};
  std::vector<double> const changed{1, 2};
  auto const weights = prior_after_nightlies(std::vector(8, 1.0), positions, changed);
  EXPECT_NEAR(weights[0] * 4, 8 * (0.05 / 2 + 0.95 / 3), 1e-9);
}

TEST(PriorAfterNightlies, KeepsTheWeightsOfCommitsInsideTheirNight) {
  std::vector<std::size_t> const positions{0, 2, 4};
  auto const weights = prior_after_nightlies({1, 1, 0.05, 1}, positions, std::vector<double>{0, 1});
  EXPECT_NEAR(weights[3] / weights[2], 20, 1e-9);
}

TEST(NightlyPrior, IsTheSumOverTheCommitsOfANight) {
  std::vector const prior{1.0, 2.0, 3.0, 4.0};
  EXPECT_THAT(nightly_prior(prior, std::vector<std::size_t>{0, 1, 4}), ElementsAre(1, 9));
}

TEST(PriorAfterNightlies, IsUnchangedIfNothingChanged) {
  std::vector<std::size_t> const positions{0, 2, 4};
  EXPECT_THAT(prior_after_nightlies({1, 2, 3, 4}, positions, std::vector<double>{0, 0}),
              ElementsAre(1, 2, 3, 4));
}

}  // namespace
}  // namespace torchwatch::bisect
