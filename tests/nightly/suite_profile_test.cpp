#include "daemon/nightly/suite_profile.h"

#include <stdexcept>
#include <string>

#include <gmock/gmock.h>

#include "tests/fakes/memory/world.h"

namespace torchwatch::nightly {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class SuiteProfileTest : public testing::Test {
 protected:
  SuiteProfileTest() {
    world.options.fleets.front().device = Device::cuda;
    world.options.measure.profile_nights = 3;
    world.release("2026-01-01", 0);
    world.release("2026-01-02", 1);
  }

  storage::Jobs jobs() { return world.parts->store.jobs(); }

  int rounds_of(std::int64_t night) {
    return world.parts->rounds.measured[Campaign::suite_profile(NightlyId{night}).name];
  }

  void pass_until(std::size_t nights) {
    for (std::size_t night = world.nightlies().size(); night < nights; ++night) {
      world.release("2026-01-0" + std::to_string(night + 1), night);
      ASSERT_TRUE(world.pass());
    }
  }

  fakes::World world;
};

TEST_F(SuiteProfileTest, AsksEachBenchmarkOnGpusWhereItsTimeGoes) {
  ASSERT_TRUE(world.pass());

  EXPECT_EQ(world.newest().state, NightlyState::done);
  auto const profiled = jobs().of(Campaign::suite_profile(NightlyId{2}));
  ASSERT_THAT(profiled, SizeIs(2)) << "alpha and beta";
  EXPECT_EQ(profiled.front().key.commit, world.newest().commit);
  EXPECT_THAT(profiled.front().profile, SizeIs(1));
}

TEST_F(SuiteProfileTest, DoesSoOnceInSoManyNights) {
  ASSERT_TRUE(world.pass());
  pass_until(8);

  EXPECT_THAT(jobs().profiled_nightlies(), ElementsAre(NightlyId{8}, NightlyId{5}, NightlyId{2}));
}

TEST_F(SuiteProfileTest, RunsOnlyOnGpusAndWhenConfigured) {
  world.options.measure.profile_nights = 0;
  ASSERT_TRUE(world.pass());
  world.options.measure.profile_nights = 3;
  world.options.fleets.front().device = Device::cpu;
  pass_until(3);

  EXPECT_THAT(jobs().profiled_nightlies(), IsEmpty());
}

TEST_F(SuiteProfileTest, GivesWayToAnIncident) {
  world.change(1, "alpha", 1.3);
  ASSERT_TRUE(world.pass());
  EXPECT_THAT(world.parts->store.incidents().all(), SizeIs(1));
  EXPECT_THAT(jobs().profiled_nightlies(), IsEmpty());
  pass_until(3);

  EXPECT_THAT(jobs().profiled_nightlies(), ElementsAre(NightlyId{3}));
}

TEST_F(SuiteProfileTest, GoesOnAfterACrash) {
  int rounds = 0;
  world.parts->rounds.before = [&rounds](measure::RoundKey const& key) {
    if (key.campaign == Campaign::suite_profile(NightlyId{2}) && ++rounds == 2)
      throw std::runtime_error{"killed"};
  };
  EXPECT_THROW((void)world.pass(), std::runtime_error);
  EXPECT_EQ(rounds_of(2), 1);
  world.restart();
  ASSERT_TRUE(world.pass());

  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_EQ(rounds_of(2), 1) << "only what was not stored";
  EXPECT_THAT(jobs().of(Campaign::suite_profile(NightlyId{2})), SizeIs(2));
}

TEST_F(SuiteProfileTest, DoesWithoutABuildThatIsGone) {
  Nightly nightly;
  nightly.prefix = "/nowhere";
  EXPECT_TRUE(world.run(world.parts->suite_profile.run(nightly))) << "the night goes on";
  EXPECT_THAT(jobs().profiled_nightlies(), IsEmpty());
}

}  // namespace
}  // namespace torchwatch::nightly
