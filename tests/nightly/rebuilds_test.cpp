#include "daemon/nightly/rebuilds.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "daemon/bisection/build_variation.h"
#include "tests/fakes/memory/world.h"

namespace torchwatch::nightly {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::SizeIs;

class RebuildsTest : public testing::Test {
 protected:
  RebuildsTest() {
    world.options.decide.aa_rebuilds = 2;
    world.release("2026-01-01", 0);
    world.release("2026-01-02", 1);
  }

  std::vector<JobOutcome> measured() {
    return world.parts->store.jobs().of(Campaign::rebuilds(world.newest().id));
  }

  auto times_built() {
    return std::ranges::count(world.parts->builder.made, world.newest().commit);
  }

  fakes::World world;
};

TEST_F(RebuildsTest, ComparesTwoLayoutsOfTheNightlysCommit) {
  world.change_layout(0, "alpha", 1.2);
  ASSERT_TRUE(world.pass());

  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_THAT(world.parts->store.incidents().all(), IsEmpty()) << "a layout is no regression";
  EXPECT_THAT(world.parts->rounds.measured, Contains(Key(Campaign::rebuilds(NightlyId{2}).name)));
  auto const first = measured();
  ASSERT_THAT(first, Not(IsEmpty()));
  EXPECT_EQ(first.front().key.commit, world.newest().commit);
  EXPECT_EQ(times_built(), 2);
}

TEST_F(RebuildsTest, LeavesItWhereTheRecipeKnowsNoLayouts) {
  ASSERT_TRUE(world.pass());
  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_THAT(measured(), IsEmpty());
  EXPECT_EQ(times_built(), 1);
}

TEST_F(RebuildsTest, LeavesItToTheBisectionOnANightWithAnIncident) {
  world.change_layout(9, "alpha", 1);
  world.change(1, "alpha", 1.3);
  ASSERT_TRUE(world.pass());
  EXPECT_THAT(world.parts->store.incidents().all(), SizeIs(1));
  EXPECT_THAT(measured(), IsEmpty());
}

TEST_F(RebuildsTest, SkipsAnUnavailableCommit) {
  world.change_layout(0, "alpha", 1.2);
  world.pass();
  auto nightly = world.newest();
  nightly.commit = CommitSha{std::string(40, '1')};
  EXPECT_TRUE(world.run(world.parts->rebuilds.compare(nightly))) << "the night goes on";
}

TEST_F(RebuildsTest, RunsOnlyWhenConfigured) {
  world.options.decide.aa_rebuilds = 0;
  world.change_layout(0, "alpha", 1.2);
  ASSERT_TRUE(world.pass());
  EXPECT_THAT(measured(), IsEmpty());
}

TEST_F(RebuildsTest, GoesOnAfterACrash) {
  world.change_layout(0, "alpha", 1.2);
  int rounds = 0;
  world.parts->rounds.before = [&rounds](measure::RoundKey const& key) {
    if (key.campaign == Campaign::rebuilds(NightlyId{2}) && ++rounds == 3)
      throw std::runtime_error{"killed"};
  };
  EXPECT_THROW((void)world.pass(), std::runtime_error);
  auto const before = measured().size();
  world.restart();
  ASSERT_TRUE(world.pass());
  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_GT(measured().size(), before);
  EXPECT_EQ(times_built(), 0) << "both were there";
}

TEST_F(RebuildsTest, TeachesHowMuchBuildsDiffer) {
  world.change_layout(0, "alpha", 1.06);
  world.change_layout(0, "beta", 1.06);
  ASSERT_TRUE(world.pass());
  EXPECT_THAT(bisection::read_build_variation(world.parts->store), IsEmpty()) << "two are too few";
  for (std::size_t commit = 2; commit < 5; ++commit) {
    world.release("2026-01-0" + std::to_string(commit + 1), commit);
    ASSERT_TRUE(world.pass());
  }
  auto const variation = bisection::read_build_variation(world.parts->store);
  ASSERT_THAT(variation, SizeIs(1));
  // Half of them differ by more than 6%, as normal differences of 8.6% do: 6.1% a build.
  EXPECT_NEAR(variation.at("local"), 0.061, 0.015);
}

}  // namespace
}  // namespace torchwatch::nightly
