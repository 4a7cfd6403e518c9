#include "daemon/retention/forgetting.h"

#include <chrono>
#include <string>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <gmock/gmock.h>

#include "tests/fakes/memory/world.h"

namespace torchwatch::retention {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

TEST(Forgettable, KeepsProofsProfilesAndWhatIsNotKnown) {
  NeededProcesses const needed{{NightlyId{2}}, {BisectionId{7}}};
  BisectionCampaigns const ended{BisectionId{6}, RecipeId{1}};
  BisectionCampaigns const goes_on{BisectionId{7}, RecipeId{1}};
  auto const gone = forgettable({Campaign::of(NightlyId{1}),
                                 Campaign::of(NightlyId{2}),
                                 Campaign::self_comparison(NightlyId{1}).second(),
                                 Campaign::anchor(NightlyId{1}),
                                 Campaign::rebuilds(NightlyId{2}),
                                 Campaign::profile(IncidentId{1}),
                                 ended.commits(),
                                 ended.nightlies(),
                                 ended.proof(CommitSha{"abc"}),
                                 ended.rebuilt_proof(CommitSha{"abc"}),
                                 ended.revert_check(CommitSha{"abc"}),
                                 goes_on.commits(),
                                 {"sweep/1"},
                                 {"nightly/"},
                                 {""}},
                                needed);
  EXPECT_THAT(gone,
              ElementsAre(Campaign::of(NightlyId{1}),
                          Campaign::self_comparison(NightlyId{1}).second(),
                          Campaign::anchor(NightlyId{1}),
                          ended.commits(),
                          ended.nightlies()));
}

class ForgettingTest : public testing::Test {
 protected:
  ForgettingTest() { world.options.store.raw_nights = 2; }

  void night(std::size_t commit) {
    world.release("2026-01-0" + std::to_string(commit + 1), commit);
    ASSERT_TRUE(world.pass());
  }

  void forget() {
    boost::asio::co_spawn(world.loop, world.parts->forgetting.forget(), boost::asio::detached);
    world.loop.restart();
    world.loop.run_for(std::chrono::seconds{30});
  }

  std::vector<Campaign> campaigns() { return world.parts->store.jobs().campaigns(); }

  fakes::World world;
};

TEST_F(ForgettingTest, KeepsTheNightsAndForgetsOldProcesses) {
  for (std::size_t commit = 0; commit < 4; ++commit)
    night(commit);
  forget();

  EXPECT_THAT(campaigns(), ElementsAre(Campaign::of(NightlyId{3}), Campaign::of(NightlyId{4})));
  EXPECT_EQ(world.parts->store.histories().of(world.series("alpha")).size(), 4U);
}

TEST_F(ForgettingTest, KeepsWhatAnIncidentShows) {
  world.change(1, "alpha", 1.3);
  for (std::size_t commit = 0; commit < 5; ++commit)
    night(commit);
  forget();

  EXPECT_THAT(campaigns(),
              IsSupersetOf({Campaign::of(NightlyId{2}), Campaign::profile(IncidentId{1})}));
  EXPECT_THAT(campaigns(), Not(Contains(Campaign::of(NightlyId{3}))));
}

TEST_F(ForgettingTest, GoesOnWhereItWasCutOff) {
  for (std::size_t commit = 0; commit < 3; ++commit)
    night(commit);
  world.parts->store.jobs().forget(Campaign::of(NightlyId{1}), 3);
  world.restart();
  forget();
  EXPECT_THAT(campaigns(), Not(Contains(Campaign::of(NightlyId{1}))));
  forget();
  EXPECT_EQ(world.parts->store.histories().of(world.series("alpha")).size(), 3U);
}

}  // namespace
}  // namespace torchwatch::retention
