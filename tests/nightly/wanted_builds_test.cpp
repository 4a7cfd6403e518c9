/// Removed builds are restored when a user requests them.
#include "daemon/nightly/wanted_builds.h"

#include <filesystem>

#include <gmock/gmock.h>

#include "daemon/builds/build_references.h"
#include "daemon/builds/build_request.h"
#include "tests/fakes/memory/world.h"

namespace torchwatch::nightly {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class WantedBuildsTest : public testing::Test {
 protected:
  /// Two nightlies, of which the first has no build any more.
  void live_through() {
    for (int night = 1; night <= 2; ++night) {
      world.clock.time += std::chrono::days{1};
      world.publish("2026-01-0" + std::to_string(night), static_cast<std::size_t>(night));
      ASSERT_TRUE(world.pass());
    }
    ASSERT_TRUE(world.parts->kept.remove("nightly-1"));
  }

  Result<std::vector<KeptBuild>> fetch(std::string const& called) {
    builds::BuildRequest request;
    request.action = builds::BuildAction::fetch;
    request.build = called;
    request.who = "ada";
    request.why = "asked in the forum";
    return builds::carry_out(request, world.parts->kept, world.parts->store, world.clock.now());
  }

  std::vector<KeptBuild> bring() { return world.run(world.parts->wanted_builds.bring()); }

  bool is_there() const { return std::filesystem::exists(world.nightlies()[0].prefix); }

  mutable fakes::World world;
};

TEST_F(WantedBuildsTest, IsFetchedAndPinned) {
  live_through();
  ASSERT_THAT(fetch("2026-01-01").value(), IsEmpty());
  world.restart();
  auto const came = bring();
  ASSERT_THAT(came, SizeIs(1));
  EXPECT_EQ(came[0].name, "nightly-1");
  EXPECT_EQ(came[0].pin->who, "ada");
  EXPECT_TRUE(is_there());
  EXPECT_THAT(world.parts->store.kept_builds().wanted(), IsEmpty());
  EXPECT_FALSE(world.parts->kept.remove("nightly-1"));
  EXPECT_EQ(world.nightlies()[0].state, NightlyState::done) << "it is not judged again";
}

TEST_F(WantedBuildsTest, WhatIsThereIsPinnedAtOnce) {
  live_through();
  EXPECT_THAT(fetch("nightly-2").value(), SizeIs(1));
  EXPECT_THAT(world.parts->store.kept_builds().wanted(), IsEmpty());
}

TEST_F(WantedBuildsTest, WhatDoesNotComeIsTriedAgain) {
  live_through();
  auto& file = world.index.files.begin()->second;
  file.trouble = Error{ErrorCode::unavailable, "503"};
  ASSERT_TRUE(fetch("2026-01-01"));
  EXPECT_THAT(bring(), IsEmpty());
  EXPECT_THAT(world.parts->store.kept_builds().wanted(), SizeIs(1));
  file.trouble.reset();
  EXPECT_THAT(bring(), SizeIs(1));
}

TEST_F(WantedBuildsTest, ItsPartialDownloadStaysWhileOthersAreRemoved) {
  live_through();
  ASSERT_TRUE(fetch("2026-01-01"));
  auto const part = builds::retention_policy_of(world.options).folder / "nightly-1.part";
  std::filesystem::create_directories(part);
  world.parts->kept.make_space();
  EXPECT_TRUE(std::filesystem::exists(part));
  EXPECT_THAT(bring(), SizeIs(1));
  world.parts->kept.make_space();
  EXPECT_FALSE(std::filesystem::exists(part));
}

TEST_F(WantedBuildsTest, AFileWithOtherContentsIsNotTakenForIt) {
  live_through();
  world.index.files.begin()->second.etag = "\"again\"";
  ASSERT_TRUE(fetch("2026-01-01"));
  EXPECT_THAT(bring(), IsEmpty());
  EXPECT_THAT(world.parts->store.kept_builds().wanted(), IsEmpty());
  EXPECT_FALSE(is_there());
}

TEST_F(WantedBuildsTest, ANightlyWithoutABuildIsRefused) {
  world.publish("2026-01-01", 1).trouble = Error{ErrorCode::corrupt, "it leaves its directory"};
  ASSERT_TRUE(world.pass());
  EXPECT_THAT(fetch("2026-01-01").error().message, HasSubstr("it leaves its directory"));
  EXPECT_EQ(fetch("2026-01-09").error().code, ErrorCode::not_found);
}

TEST_F(WantedBuildsTest, ANightlyOfTheBranchIsBuiltAgain) {
  world.release("2026-01-01", 1);
  world.release("2026-01-02", 3);
  ASSERT_TRUE(world.pass());
  auto const name = world.parts->kept.name_of(world.nightlies()[0].prefix);
  ASSERT_TRUE(world.parts->kept.remove(name));
  ASSERT_THAT(fetch("2026-01-01").value(), IsEmpty());
  EXPECT_THAT(bring(), SizeIs(1));
  EXPECT_TRUE(is_there());
}

}  // namespace
}  // namespace torchwatch::nightly
