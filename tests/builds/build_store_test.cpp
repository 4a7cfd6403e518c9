/// Builds are made and removed by the service's own passes.
#include "daemon/builds/build_store.h"

#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "daemon/builds/build_references.h"
#include "tests/captured_log.h"
#include "tests/fakes/memory/executioner.h"
#include "tests/fakes/memory/world.h"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;
using std::chrono::days;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::int64_t gib = 1 << 30;
constexpr std::int64_t library = gib - 4096;  ///< the rest is small files

std::string date_of(int night) {
  std::chrono::year_month_day const first{
      std::chrono::year{2026}, std::chrono::January, std::chrono::day{1}};
  std::chrono::year_month_day const date{std::chrono::sys_days{first} + days{night}};
  return fmt::format("{}-{:02}-{:02}",
                     static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

class BuildStoreTest : public testing::Test {
 protected:
  explicit BuildStoreTest(std::size_t commits = 9) : world{commits} {}

  /// A nightly whose build has 1 GiB, on the next day.
  void live_through(int night, std::size_t commit) {
    world.clock.time += days{1};
    world.publish(date_of(night), commit).bytes = library;
    auto const passed = world.pass();
    ASSERT_TRUE(passed) << passed.error().message;
  }

  fs::path folder() const { return retention_policy_of(world.options).folder; }

  std::set<std::string> on_disk() const {
    std::set<std::string> names;
    for (auto const& entry : fs::directory_iterator{folder()})
      names.insert(entry.path().filename());
    return names;
  }

  std::set<std::string> in_table() {
    std::set<std::string> names;
    for (auto const& build : world.parts->store.kept_builds().all())
      names.insert(build.name);
    return names;
  }

  fakes::World world;
};

class SixtyNightsTest : public BuildStoreTest {
 protected:
  SixtyNightsTest() : BuildStoreTest{61} {}
};

TEST_F(SixtyNightsTest, QuotaAndPinsAreKeptAndEveryRemovalIsExplained) {
  tests::CapturedLog const log;
  world.options.builds.quota_mib = 10 * 1024;
  world.options.decide.anchor_nights = 7;
  world.options.source.recipe.clear();
  world.change(5, "alpha", 1.3);
  std::size_t most = 0;
  for (int night = 0; night < 60; ++night) {
    live_through(night, static_cast<std::size_t>(night));
    auto const there = on_disk();
    most = std::max(most, there.size());
    ASSERT_LE(there.size(), 10U) << date_of(night);
    ASSERT_THAT(there, Contains("nightly-1")) << "beta's anchor, " << date_of(night);
    if (night < 5) continue;
    ASSERT_THAT(there, Contains("nightly-5")) << "the incident's baseline, " << date_of(night);
    ASSERT_THAT(there, Contains("nightly-6")) << "the incident's nightly, " << date_of(night);
  }
  EXPECT_EQ(most, 10U);
  EXPECT_THAT(world.parts->store.incidents().all(), testing::SizeIs(1));
  EXPECT_THAT(world.alarms(), Not(Contains(AlarmKind::builds_need_space)));
  auto const removals = log.lines_with("build_removed");
  EXPECT_EQ(removals.size(), 60 - on_disk().size());
  EXPECT_THAT(removals, testing::Each(HasSubstr("reason=\"quota: ")));
  EXPECT_THAT(removals, testing::Each(HasSubstr("with one more"))) << "removed before the fetch";
  for (auto const& [url, file] : world.index.files)
    EXPECT_EQ(file.downloads, 1) << url;
}

TEST_F(BuildStoreTest, BuildsOfABisectionStayUntilItHasEnded) {
  world.options.builds.quota_mib = 3 * 1024;
  world.parts->builder.bytes = library;
  world.change(5, "alpha", 1.3);
  world.release("2026-01-01", 0);
  world.release("2026-01-02", 8);
  tests::CapturedLog const log;
  ASSERT_TRUE(world.pass());
  auto const bisection = world.parts->store.bisections().all_in_brief().at(0);
  ASSERT_EQ(bisection.findings.at(0).suspects.at(0).sha, world.sha(5));
  std::set<CommitSha> const made{world.parts->builder.made.begin(),
                                 world.parts->builder.made.end()};
  EXPECT_EQ(made.size(), world.parts->builder.made.size()) << "nothing was made twice";
  EXPECT_THAT(log.lines_with("alarm_raised kind=builds_need_space"), Not(IsEmpty()));

  world.clock.time += days{1};
  world.parts->kept.make_space();
  EXPECT_EQ(on_disk().size(), 3U);
  EXPECT_THAT(world.alarms(), Not(Contains(AlarmKind::builds_need_space)));
}

TEST_F(BuildStoreTest, RefusesToRemoveABuildInUse_AndNamesItsUsers) {
  live_through(0, 0);
  live_through(1, 1);
  auto& kept = world.parts->kept;
  EXPECT_THAT(kept.remove("nightly-2").error().message,
              HasSubstr("nightly-2 is in use by baseline of the next nightly"));
  ASSERT_TRUE(kept.pin("nightly-1", Pin{"ada", "for the paper", world.clock.now()}));
  EXPECT_THAT(kept.remove("nightly-1").error().message, HasSubstr("ada: for the paper"));
  ASSERT_TRUE(kept.pin("nightly-1", std::nullopt));
  ASSERT_TRUE(kept.remove("nightly-1"));
  EXPECT_THAT(on_disk(), ElementsAre("nightly-2"));
  EXPECT_EQ(kept.remove("nightly-1").error().code, ErrorCode::not_found);
  EXPECT_EQ(kept.pin("nightly-1", std::nullopt).error().code, ErrorCode::not_found);
}

TEST_F(BuildStoreTest, ListsBuildsWithTheirUsers) {
  live_through(0, 0);
  live_through(1, 1);
  auto const listed =
      builds_with_users(world.parts->store, retention_policy_of(world.options), world.clock.now());
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0].build.name, "nightly-1");
  EXPECT_GE(listed[0].build.bytes, library);
  EXPECT_EQ(listed[0].build.used_at, world.clock.now()) << "measured as a baseline";
  EXPECT_THAT(listed[0].users, IsEmpty());
  EXPECT_EQ(listed[1].build.name, "nightly-2");
  EXPECT_THAT(listed[1].users, ElementsAre("baseline of the next nightly"));
}

TEST_F(BuildStoreTest, DeletesTheRemainsOfAKilledRemoval) {
  live_through(0, 0);
  fs::create_directories(folder() / "nightly-7.removed/libtorch");
  fs::create_directories(folder() / "nightly-8.part/libtorch");
  world.parts->kept.make_space();
  EXPECT_THAT(on_disk(), ElementsAre("nightly-1"));
}

TEST_F(BuildStoreTest, DeletesCompileCachesWithTheirBuild) {
  live_through(0, 0);
  live_through(1, 1);
  auto& kept = world.parts->kept;
  Build build;
  build.prefix = (folder() / "nightly-1/torch").string();
  auto const caches = fs::path{kept.caches_of(build)};
  EXPECT_EQ(caches, folder().parent_path() / "caches/nightly-1");
  fs::create_directories(caches / "test_eval[m-cpu-inductor]");
  std::ofstream{caches / "test_eval[m-cpu-inductor]/code"} << std::string(1000, 'x');
  auto const bytes = [&] {
    return world.parts->store.kept_builds().find("nightly-1").value().bytes;
  };
  auto const before = bytes();
  world.clock.time += std::chrono::hours{1};
  kept.use(build.prefix);
  EXPECT_EQ(bytes(), before + 1000);
  kept.make_space();
  EXPECT_TRUE(fs::exists(caches));
  ASSERT_TRUE(kept.remove("nightly-1"));
  EXPECT_FALSE(fs::exists(caches));
}

TEST_F(BuildStoreTest, DeletesCachesOfBuildsThatAreGone) {
  auto const caches = folder().parent_path() / "caches";
  fs::create_directories(caches / "nightly-7/test_eval[m-cpu-inductor]");
  world.parts->kept.make_space();
  EXPECT_TRUE(fs::is_empty(caches)) << "a killed removal left them";
}

TEST_F(BuildStoreTest, DeletesCachesOfBuildsInOtherDirectoriesAfterAMonth) {
  auto& kept = world.parts->kept;
  Build build;
  build.prefix = "/srv/a";
  build.manifest.commit = world.sha(0);
  auto const caches = fs::path{kept.caches_of(build)};
  EXPECT_THAT(caches.filename().string(), testing::StartsWith("elsewhere-"));
  auto const old = kept.caches_of(build);
  build.manifest.commit = world.sha(1);
  EXPECT_NE(kept.caches_of(build), old) << "another build in the same place";
  fs::create_directories(caches);
  fs::last_write_time(caches, fs::file_time_type::clock::now() - days{29});
  kept.make_space();
  EXPECT_TRUE(fs::exists(caches));
  fs::last_write_time(caches, fs::file_time_type::clock::now() - days{31});
  kept.make_space();
  EXPECT_FALSE(fs::exists(caches));
}

TEST_F(BuildStoreTest, LeavesUnfinishedFetchesAlone) {
  world.publish("2026-01-01", 0).trouble = Error{ErrorCode::unavailable, "503"};
  EXPECT_FALSE(world.pass());
  fs::create_directories(folder() / "nightly-1.part/libtorch");
  auto const download = folder().parent_path() / "downloads/nightly-1.part";
  std::ofstream{download} << "half";
  world.parts->kept.make_space();
  EXPECT_TRUE(fs::exists(folder() / "nightly-1.part"));
  EXPECT_TRUE(fs::exists(download));
  world.index.files.begin()->second.trouble.reset();
  ASSERT_TRUE(world.pass());
  world.parts->kept.make_space();
  EXPECT_FALSE(fs::exists(folder() / "nightly-1.part"));
  EXPECT_FALSE(fs::exists(download));
}

TEST_F(BuildStoreTest, DropsBuildsThatAreGoneFromTheDisk) {
  live_through(0, 0);
  fs::remove_all(folder() / "nightly-1");
  world.parts->kept.make_space();
  EXPECT_THAT(in_table(), IsEmpty());
}

/// Three nightlies with a quota of two builds.
class ThreeNights {
 public:
  ThreeNights() {
    world_.options.suite.models = {"alpha"};
    world_.options.builds.quota_mib = 2 * 1024;
  }

  /// Kills the service before the given write after the first one. True when that write came.
  bool live_through(int writes) {
    fakes::Executioner executioner{world_.folder.path() / "torchwatch.sqlite"};
    executioner.grant(writes);
    bool was_killed = false;
    for (int night = 0; night < 3; ++night) {
      world_.clock.time += days{1};
      world_.publish(date_of(night), static_cast<std::size_t>(night)).bytes = library;
      try {
        world_.pass().value();
      } catch (std::exception const&) {
        was_killed = true;
        executioner.grant(1'000'000);
        world_.restart();
        world_.pass().value();
      }
    }
    return was_killed;
  }

  void expect_the_usual_end(int writes) {
    std::set<std::string> there;
    for (auto const& entry : fs::directory_iterator{retention_policy_of(world_.options).folder})
      there.insert(entry.path().filename());
    EXPECT_THAT(there, ElementsAre("nightly-2", "nightly-3")) << "after " << writes << " writes";
    EXPECT_EQ(world_.parts->store.kept_builds().all().size(), 2U);
    for (auto const& [url, file] : world_.index.files)
      EXPECT_EQ(file.downloads, 1) << "after " << writes << " writes: " << url;
    for (auto const& nightly : world_.nightlies())
      EXPECT_EQ(nightly.state, NightlyState::done) << "after " << writes << " writes";
  }

 private:
  fakes::World world_{4};
};

TEST(PruningKilled, BeforeAnyWriteItComesToTheSameEnd) {
  int writes = 0;
  for (bool was_killed = true; was_killed; ++writes) {
    ThreeNights nights;
    was_killed = nights.live_through(writes);
    nights.expect_the_usual_end(writes);
    if (HasFailure()) break;
  }
  EXPECT_GT(writes, 40);
}

}  // namespace
}  // namespace torchwatch::builds
