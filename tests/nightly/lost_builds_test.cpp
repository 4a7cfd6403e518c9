/// Builds that are gone, as after a backup was restored, are brought back when they are needed.
#include "daemon/nightly/lost_builds.h"

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>

#include "daemon/builds/build_references.h"
#include "tests/fakes/memory/world.h"

namespace torchwatch::nightly {
namespace {

class LostBuildsTest : public testing::Test {
 protected:
  LostBuildsTest() {
    for (std::size_t night = 1; night <= 2; ++night) {
      world.publish("2026-01-0" + std::to_string(night), night);
      world.pass().value();
    }
  }

  /// Removes all builds, as when the backup is restored on another host.
  void lose_builds() {
    std::filesystem::remove_all(builds::retention_policy_of(world.options).folder);
    world.restart();
  }

  Result<> pass() { return world.run(world.parts->pass()); }

  bool has_build(std::size_t night) {
    return std::filesystem::exists(world.nightlies().at(night - 1).prefix);
  }

  fakes::FakeFetcher::File& file_of(std::string const& date) {
    for (auto& [url, file] : world.index.files)
      if (file.date == date) return file;
    throw std::runtime_error("no file of " + date);
  }

  fakes::World world;
};

TEST_F(LostBuildsTest, NextBaseline_IsFetchedAgain) {
  lose_builds();
  ASSERT_FALSE(has_build(2));
  world.publish("2026-01-03", 3);

  ASSERT_TRUE(pass());

  EXPECT_TRUE(has_build(2));
  EXPECT_FALSE(has_build(1)) << "no step needs it";
  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_EQ(world.newest().baseline, world.nightlies().at(1).id);
}

TEST_F(LostBuildsTest, NightlyThatIsBeingJudged_DoesNotFail) {
  auto nightly = world.newest();
  nightly.state = NightlyState::prepared;
  world.parts->store.nightlies().update(nightly);
  lose_builds();

  ASSERT_TRUE(pass());

  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_EQ(world.newest().failure, "");
  EXPECT_TRUE(has_build(1)) << "its baseline";
}

TEST_F(LostBuildsTest, BuildThatDoesNotComeForNow_DelaysThePass) {
  lose_builds();
  file_of("2026-01-02").trouble = Error{ErrorCode::unavailable, "503"};
  world.publish("2026-01-03", 3);

  auto const passed = pass();

  ASSERT_FALSE(passed);
  EXPECT_EQ(passed.error().code, ErrorCode::unavailable);
  EXPECT_EQ(world.nightlies().size(), 2U) << "the feed was not read";

  file_of("2026-01-02").trouble.reset();
  world.clock.time += std::chrono::hours{6};
  ASSERT_TRUE(pass());
  EXPECT_EQ(world.newest().baseline, world.nightlies().at(1).id);
}

TEST_F(LostBuildsTest, BuildThatNeverComes_IsGivenUpAfterADay) {
  lose_builds();
  file_of("2026-01-02").trouble = Error{ErrorCode::unavailable, "503"};
  world.publish("2026-01-03", 3);
  int failed = 0;
  while (failed < 100 && !pass()) {
    ++failed;
    world.clock.time += std::chrono::hours{2};
  }
  EXPECT_GE(failed, 10);
  EXPECT_LT(failed, 20);
  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_EQ(world.newest().baseline, std::nullopt) << "no earlier build is there";
}

TEST_F(LostBuildsTest, BuildsThatAreThere_AreNotFetchedAgain) {
  ASSERT_TRUE(pass());
  EXPECT_EQ(file_of("2026-01-01").downloads, 1);
  EXPECT_EQ(file_of("2026-01-02").downloads, 1);
}

}  // namespace
}  // namespace torchwatch::nightly
