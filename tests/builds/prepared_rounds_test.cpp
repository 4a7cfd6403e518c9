#include "daemon/builds/prepared_rounds.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "daemon/builds/build_references.h"
#include "tests/fakes/memory/world.h"

namespace torchwatch::builds {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PreparedRoundsTest : public testing::Test {
 protected:
  /// A build that the service keeps, used now.
  Build keep(std::size_t commit, std::string const& name) {
    auto const prefix = retention_policy_of(world.options).folder / name;
    auto build = fakes::FakeBuilder::deliver(prefix, world.sha(commit));
    world.parts->kept.make_space();
    return build;
  }

  Result<std::vector<JobOutcome>> measure(std::vector<Build> builds) {
    measure::RoundKey key;
    key.campaign = Campaign::of(NightlyId{1});
    key.fleet = "local";
    key.benchmark = world.series("alpha").benchmark;
    return world.run(world.parts->prepared_rounds.measure(std::move(key), std::move(builds)));
  }

  int measured() const { return world.parts->rounds.measured[Campaign::of(NightlyId{1}).name]; }

  Timestamp used_at(std::string const& name) {
    return world.parts->store.kept_builds().find(name).value().used_at;
  }

  fakes::World world;
};

TEST_F(PreparedRoundsTest, RenewsTheWorkerOfEveryBuildBeforeItMeasures) {
  auto const before = keep(0, "nightly-1");
  auto const after = keep(1, "nightly-2");
  std::vector<std::string> renewed;
  world.parts->rounds.before = [&](measure::RoundKey const&) {
    renewed = world.workers.renewed;
  };
  ASSERT_TRUE(measure({before, after}));
  EXPECT_THAT(renewed, ElementsAre(before.prefix, after.prefix));
}

TEST_F(PreparedRoundsTest, GivesEachBuildItsOwnCompileCaches) {
  std::vector<std::string> caches;
  world.parts->rounds.finish = [&](JobOutcome&, Build const& build) {
    caches.push_back(build.caches);
  };
  ASSERT_TRUE(measure({keep(0, "nightly-1"), keep(1, "nightly-2")}));
  auto const folder = retention_policy_of(world.options).folder.parent_path() / "caches";
  EXPECT_THAT(caches,
              ElementsAre((folder / "nightly-1").string(), (folder / "nightly-2").string()));
}

TEST_F(PreparedRoundsTest, MeasuresNothing_WhenAWorkerCannotBeRenewed) {
  world.workers.renewal_trouble = Error{ErrorCode::unavailable, "no compiler"};
  auto const outcomes = measure({keep(0, "nightly-1"), keep(1, "nightly-2")});
  ASSERT_FALSE(outcomes);
  EXPECT_EQ(outcomes.error().message, "no compiler");
  EXPECT_EQ(measured(), 0);
}

TEST_F(PreparedRoundsTest, MarksBuildsAsUsedOnceAnHour) {
  auto const before = keep(0, "nightly-1");
  auto const after = keep(1, "nightly-2");
  auto const made = world.clock.time;
  world.clock.time = made + std::chrono::minutes{59};
  ASSERT_TRUE(measure({before, after}));
  EXPECT_EQ(used_at("nightly-1"), made);

  world.clock.time = made + std::chrono::hours{1};
  ASSERT_TRUE(measure({before, after}));
  EXPECT_EQ(used_at("nightly-1"), world.clock.time);
  EXPECT_EQ(used_at("nightly-2"), world.clock.time);
}

TEST_F(PreparedRoundsTest, MarksNoBuildThatLiesElsewhere) {
  auto const elsewhere = fakes::FakeBuilder::deliver(world.folder.path() / "srv/a", world.sha(0));
  auto const other = fakes::FakeBuilder::deliver(world.folder.path() / "srv/b", world.sha(1));
  ASSERT_TRUE(measure({elsewhere, other}));
  EXPECT_THAT(world.parts->store.kept_builds().all(), IsEmpty());
}

}  // namespace
}  // namespace torchwatch::builds
