#include "daemon/measure/raw_data_cleanup.h"

#include <string>

#include <gmock/gmock.h>

#include "tests/fakes/memory/world.h"

namespace torchwatch::measure {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

TEST(DeletableCampaigns, DoNotIncludeProofsProfilesAndUnknownCampaigns) {
  NeededProcesses const needed{{NightlyId{2}}, {BisectionId{7}}};
  BisectionCampaigns const ended{BisectionId{6}, RecipeId{1}};
  BisectionCampaigns const goes_on{BisectionId{7}, RecipeId{1}};
  auto const gone = deletable_campaigns({Campaign::of(NightlyId{1}),
                                         Campaign::of(NightlyId{2}),
                                         Campaign::self_comparison(NightlyId{1}).second(),
                                         Campaign::anchor(NightlyId{1}),
                                         Campaign::rebuilds(NightlyId{2}),
                                         Campaign::suite_profile(NightlyId{1}),
                                         Campaign::recovery(IncidentId{2}, NightlyId{1}),
                                         Campaign::recovery(IncidentId{1}, NightlyId{2}),
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
                          Campaign::suite_profile(NightlyId{1}),
                          Campaign::recovery(IncidentId{2}, NightlyId{1}),
                          ended.commits(),
                          ended.nightlies()));
}

class RawDataCleanupTest : public testing::Test {
 protected:
  RawDataCleanupTest() { world.options.store.raw_nights = 2; }

  void night(std::size_t commit) {
    world.release("2026-01-0" + std::to_string(commit + 1), commit);
    ASSERT_TRUE(world.pass());
  }

  int clean_up() { return world.run(world.parts->raw_data_cleanup.delete_raw_samples()); }

  std::vector<Campaign> campaigns() { return world.parts->store.jobs().campaigns(); }

  fakes::World world;
};

TEST_F(RawDataCleanupTest, DeletesOldSamples_AndKeepsTheSummaries) {
  for (std::size_t commit = 0; commit < 4; ++commit)
    night(commit);
  clean_up();

  EXPECT_THAT(campaigns(), ElementsAre(Campaign::of(NightlyId{3}), Campaign::of(NightlyId{4})));
  EXPECT_EQ(world.parts->store.histories().of(world.series("alpha")).size(), 4U);
}

TEST_F(RawDataCleanupTest, KeepsTheSamplesOfIncidents) {
  world.change(1, "alpha", 1.3);
  for (std::size_t commit = 0; commit < 5; ++commit)
    night(commit);
  clean_up();

  EXPECT_THAT(campaigns(),
              IsSupersetOf({Campaign::of(NightlyId{2}), Campaign::profile(IncidentId{1})}));
  EXPECT_THAT(campaigns(), Not(Contains(Campaign::of(NightlyId{3}))));
}

TEST_F(RawDataCleanupTest, DeletesOldBisections_ThoughAReportWaits) {
  world.change(1, "alpha", 1.3);
  for (std::size_t commit = 0; commit < 5; ++commit)
    night(commit);
  auto nightly = world.parts->store.nightlies().find(NightlyId{2}).value();
  nightly.state = NightlyState::bisected;
  world.parts->store.nightlies().update(nightly);
  auto const search = world.parts->store.bisections().find(BisectionId{1}).value();
  auto const steps = BisectionCampaigns{search.id, search.recipe}.commits();
  ASSERT_THAT(campaigns(), Contains(steps));
  clean_up();

  EXPECT_THAT(campaigns(), Not(Contains(steps)));
  EXPECT_THAT(campaigns(), Contains(Campaign::of(NightlyId{2})));
}

TEST_F(RawDataCleanupTest, DoesNotCountFailedNightlies) {
  night(0);
  night(1);
  for (std::size_t commit = 2; commit < 6; ++commit) {
    for (auto const* const model : {"alpha", "beta"})
      world.parts->rounds.failures[{model, world.sha(commit)}] = JobError::crashed;
    night(commit);
    ASSERT_EQ(world.newest().state, NightlyState::failed);
  }
  clean_up();
  EXPECT_THAT(campaigns(), IsSupersetOf({Campaign::of(NightlyId{1}), Campaign::of(NightlyId{2})}));
}

TEST_F(RawDataCleanupTest, GoesOnWhereItWasCutOff) {
  for (std::size_t commit = 0; commit < 3; ++commit)
    night(commit);
  world.parts->store.jobs().remove(Campaign::of(NightlyId{1}), 3);
  world.restart();
  clean_up();
  EXPECT_THAT(campaigns(), Not(Contains(Campaign::of(NightlyId{1}))));
  EXPECT_EQ(clean_up(), 0);
  EXPECT_EQ(world.parts->store.histories().of(world.series("alpha")).size(), 3U);
}

}  // namespace
}  // namespace torchwatch::measure
