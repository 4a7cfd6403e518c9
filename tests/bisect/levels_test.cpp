#include "bisect/compare/levels.h"

#include <gmock/gmock.h>

namespace torchwatch::bisect {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

using Runs = std::vector<std::vector<double>>;

TEST(Levels, AreTheRunsOfProcessesThatDoNotVary) {
  EXPECT_THAT(levels_of(Runs{{10, 10, 10}, {12, 12, 12}, {15, 15, 15}}),
              ElementsAre(DoubleNear(10, 1e-9), DoubleNear(12, 1e-9), DoubleNear(15, 1e-9)));
}

TEST(Levels, DoNotDependOnThePaceOfTheHost) {
  // The host changes its pace in the middle, and twice it is disturbed.
  auto const levels = levels_of(Runs{{10, 10, 25, 14, 14, 14}, {11, 11, 27.5, 15.4, 33, 15.4}});
  EXPECT_NEAR(levels[1] / levels[0], 1.1, 1e-9);
}

TEST(Levels, IgnoreARunThatWasDisturbedAlone) {
  auto const levels = levels_of(Runs{{10, 10, 10, 90, 10}, {11, 11, 11, 11, 11}, {5, 70, 5, 5, 5}});
  EXPECT_NEAR(levels[1] / levels[0], 1.1, 1e-9);
  EXPECT_NEAR(levels[2] / levels[0], 0.5, 1e-9);
}

TEST(Levels, AreMediansIfRunsAreNotNeighbours) {
  EXPECT_THAT(levels_of(Runs{{1, 2, 9}, {4, 6}}), ElementsAre(2, 5));
  EXPECT_THAT(levels_of(Runs{{0, 0}, {-1, 3}}), ElementsAre(0, 1));
}

TEST(Levels, AreTheRunsOfProcessesWithOneRun) {
  EXPECT_THAT(levels_of(Runs{{4096}, {8192}}), ElementsAre(4096, 8192));
}

}  // namespace
}  // namespace torchwatch::bisect
