// The service is killed before each of its writes to the database, and started again.

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/fakes/memory/executioner.h"
#include "tests/fakes/memory/world.h"

namespace torchwatch::nightly {
namespace {

/// The results of a nightly, which must not depend on interruptions.
struct Night {
  NightlyState state{};
  std::vector<std::string> suspects;
  BisectionOutcome outcome{};
  std::size_t incidents = 0;
  bool is_reported = false;
  std::size_t jobs = 0;
  std::vector<std::string> digests;  // of the nightlies' files
  std::vector<int> processes;        // by night of the series that changed
  friend bool operator==(Night const&, Night const&) = default;
};

/// The source of the nightlies: a branch (they are built), an index (they are fetched), or a branch
/// whose recipe knows layouts, so that culprits are proved in two.
enum class Origin { branch, index, branch_with_layouts };

/// Runs a pass that is killed before the write after `writes`. False when it needed no more.
bool is_killed(fakes::World& world, int writes) {
  fakes::Executioner executioner{world.folder.path() / "torchwatch.sqlite"};
  executioner.grant(writes);
  bool was_killed = false;
  try {
    world.pass().value();
  } catch (std::exception const&) {
    was_killed = true;
  }
  executioner.grant(1'000'000);
  return was_killed;
}

class KillTest : public testing::TestWithParam<Origin> {
 protected:
  static void release(fakes::World& world, std::string const& date, std::size_t commit) {
    world.release(date, commit);
  }

  static void publish(fakes::World& world, std::string const& date, std::size_t commit) {
    world.publish(date, commit);
  }

  static std::unique_ptr<fakes::World> two_nights() {
    auto world = std::make_unique<fakes::World>(4);
    world->options.suite.models = {"alpha"};
    bool const has_layouts = GetParam() == Origin::branch_with_layouts;
    if (has_layouts) world->change_layout(9, "alpha", 1);
    world->change(2, "alpha", 1.25, has_layouts ? Metric::latency : Metric::cmem);
    auto const announce = GetParam() == Origin::index ? publish : release;
    announce(*world, "2026-01-01", 0);
    announce(*world, "2026-01-02", 3);
    world->parts->rounds.noise = 0;
    return world;
  }

  static Night seen(fakes::World& world) {
    auto& store = world.parts->store;
    auto const bisection = store.bisections().all_in_brief().at(0);
    Night night;
    night.state = world.newest().state;
    for (auto const& finding : bisection.findings)
      for (auto const& suspect : finding.suspects)
        night.suspects.push_back(suspect.sha.hex);
    night.outcome = bisection.outcome.value();
    night.incidents = store.incidents().all().size();
    night.is_reported = std::filesystem::exists(store.incidents().all().at(0).report);
    auto const metric = GetParam() == Origin::branch_with_layouts ? Metric::latency : Metric::cmem;
    for (auto const& of_series : store.histories().of(world.series("alpha", metric)))
      night.processes.push_back(of_series.processes);
    for (auto const& nightly : world.nightlies())
      night.digests.push_back(nightly.file ? nightly.file->sha256 : "");
    night.jobs = store.jobs().of(Campaign::of(world.newest().id)).size();
    return night;
  }
};

TEST_P(KillTest, ComesToTheSameEndWhereverItWasCutOff) {
  fakes::KillPoints const points;
  SCOPED_TRACE("kills before one write in " + std::to_string(points.stride()) + ", from write " +
               std::to_string(points.first()) + " on");
  auto const undisturbed = two_nights();
  ASSERT_TRUE(undisturbed->pass());
  auto const expected = seen(*undisturbed);
  ASSERT_EQ(expected.outcome, BisectionOutcome::culprit);
  int const layouts = GetParam() == Origin::branch_with_layouts ? 2 : 1;

  int kills = 0;
  for (int writes = points.first();; writes += points.stride()) {
    auto const world = two_nights();
    if (!is_killed(*world, writes)) break;
    ++kills;
    world->restart();
    world->parts->rounds.noise = 0;
    ASSERT_TRUE(world->pass()) << "after " << writes << " writes";
    ASSERT_EQ(seen(*world), expected) << "after " << writes << " writes";
    auto const& made = world->parts->builder.made;
    for (auto const& commit : made)
      EXPECT_LE(std::ranges::count(made, commit), layouts) << "no build is made twice";
    for (auto const& [url, file] : world->index.files)
      EXPECT_EQ(file.downloads, 1) << "after " << writes << " writes: " << url;
  }
  EXPECT_GT(kills, 40 / points.stride());
}

/// A regression is in a nightly on which its benchmark crashes, and another one in the next.
class GapKillTest : public testing::Test {
 protected:
  static std::unique_ptr<fakes::World> after_the_first_night() {
    auto world = std::make_unique<fakes::World>(4);
    world->change(2, "alpha", 1.25, Metric::cmem);
    script(*world);
    world->release("2026-01-01", 0);
    EXPECT_TRUE(world->pass());
    world->release("2026-01-02", 2);
    world->release("2026-01-03", 3);
    return world;
  }

  static void script(fakes::World& world) {
    world.parts->rounds.noise = 0;
    world.parts->rounds.failures[{"alpha", world.sha(2)}] = JobError::crashed;
  }

  static void expect_end(fakes::World& world) {
    auto& store = world.parts->store;
    EXPECT_EQ(world.newest().state, NightlyState::done);
    auto const incidents = store.incidents().all();
    ASSERT_EQ(incidents.size(), 1U);
    EXPECT_EQ(incidents[0].nightly, world.newest().id);
    EXPECT_EQ(incidents[0].baseline, world.nightlies().at(0).id);
    EXPECT_EQ(store.baselines().of(world.newest().id).size(), 2U);
    EXPECT_EQ(store.bisections().of_incident(incidents[0].id).size(), 1U);
  }
};

TEST_F(GapKillTest, FindsTheRegressionWhereverItWasCutOff) {
  fakes::KillPoints const points;
  SCOPED_TRACE("from write " + std::to_string(points.first()) + " on");
  int kills = 0;
  for (int writes = points.first();; writes += points.stride()) {
    auto const world = after_the_first_night();
    if (!is_killed(*world, writes)) break;
    ++kills;
    world->restart();
    script(*world);
    ASSERT_TRUE(world->pass()) << "after " << writes << " writes";
    expect_end(*world);
    ASSERT_FALSE(HasFailure()) << "after " << writes << " writes";
  }
  EXPECT_GT(kills, 40 / points.stride());
}

/// The second nightly is a merge of two commits, the second of which takes more memory.
class MergeKillTest : public testing::Test {
 protected:
  static std::unique_ptr<fakes::World> two_nights() {
    auto world = std::make_unique<fakes::World>(4);
    world->options.suite.models = {"alpha"};
    auto const side = world->trunk.branch_off(1, 2);
    world->trunk.merge(side.back());
    script(*world, side.back());
    world->release("2026-01-01", 0);
    world->release("2026-01-02", 4);
    return world;
  }

  static void script(fakes::World& world, CommitSha const& culprit) {
    world.parts->rounds.noise = 0;
    world.parts->rounds.level = [culprit, merge = world.sha(4)](Series const& series,
                                                                Build const& build) {
      auto const& commit = build.manifest.commit;
      bool const is_large = commit == culprit || commit == merge;
      return is_large && series.metric == Metric::cmem ? 1.25 : 1.0;
    };
  }

  static void expect_end(fakes::World& world, CommitSha const& culprit) {
    auto& store = world.parts->store;
    EXPECT_EQ(world.newest().state, NightlyState::done);
    auto const incidents = store.incidents().all();
    ASSERT_EQ(incidents.size(), 1U);
    EXPECT_TRUE(std::filesystem::exists(incidents[0].report));
    auto const bisections = store.bisections().of_incident(incidents[0].id);
    ASSERT_EQ(bisections.size(), 2U);
    EXPECT_EQ(bisections[1].inside, (SearchedMerge{bisections[0].id, world.sha(4), 2}));
    EXPECT_EQ(bisections[1].outcome, BisectionOutcome::culprit);
    EXPECT_EQ(bisections[1].findings.at(0).suspects.front().sha, culprit);
  }
};

TEST_F(MergeKillTest, SearchesTheMergeOnceWhereverItWasCutOff) {
  fakes::KillPoints const points;
  SCOPED_TRACE("from write " + std::to_string(points.first()) + " on");
  int kills = 0;
  for (int writes = points.first();; writes += points.stride()) {
    auto const world = two_nights();
    auto const culprit = world->trunk.branch_off(1, 2).back();  // the same commits again
    if (!is_killed(*world, writes)) break;
    ++kills;
    world->restart();
    script(*world, culprit);
    ASSERT_TRUE(world->pass()) << "after " << writes << " writes";
    expect_end(*world, culprit);
    ASSERT_FALSE(HasFailure()) << "after " << writes << " writes";
  }
  EXPECT_GT(kills, 40 / points.stride());
}

std::string name_of(testing::TestParamInfo<Origin> const& test) {
  switch (test.param) {
    case Origin::branch:
      return "Branch";
    case Origin::index:
      return "Index";
    case Origin::branch_with_layouts:
      return "BranchWithLayouts";
  }
  return {};
}

INSTANTIATE_TEST_SUITE_P(From,
                         KillTest,
                         testing::Values(Origin::branch,
                                         Origin::index,
                                         Origin::branch_with_layouts),
                         name_of);

}  // namespace
}  // namespace torchwatch::nightly
