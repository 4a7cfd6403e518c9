/// When the disk budget is called, and for what.
#include "daemon/builds/disk_budget.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "daemon/builds/companions.h"
#include "daemon/builds/packages.h"
#include "tests/fakes/memory/scripted_budget.h"
#include "tests/fakes/memory/world.h"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

/// Downloads from an index, with a budget that records the number of downloaded files at each call.
class DiskBudgetTest : public testing::Test {
 protected:
  DiskBudgetTest() {
    budget.before = [this] {
      asked.push_back("before " + std::to_string(downloads()));
    };
    budget.after = [this] {
      asked.push_back("after " + std::to_string(downloads()));
    };
  }

  int downloads() const {
    int count = 0;
    for (auto const& [url, file] : world.index.files)
      count += file.downloads;
    for (auto const& [url, wheel] : world.index.companions)
      count += wheel.downloads;
    return count;
  }

  Result<BuildAttempt> bring(Nightly& nightly) {
    Packages packages{world.loop.get_executor(),
                      world.options,
                      world.index,
                      budget,
                      world.parts->git_fetch,
                      world.workers};
    return world.run(packages.bring(nightly));
  }

  /// Announced, and not fetched yet.
  Nightly announced(std::string const& date) {
    world.index.files.begin()->second.trouble = Error{ErrorCode::unavailable, "503"};
    EXPECT_FALSE(world.pass());
    world.index.files.begin()->second.trouble.reset();
    auto nightly = world.newest();
    EXPECT_EQ(nightly.date, date);
    return nightly;
  }

  fakes::World world;
  fakes::ScriptedBudget budget;
  std::vector<std::string> asked;
};

TEST_F(DiskBudgetTest, IsAskedBeforeAndAfterANightlyIsFetched) {
  world.publish("2026-01-01", 0);
  auto nightly = announced("2026-01-01");
  ASSERT_TRUE(bring(nightly));
  EXPECT_THAT(asked, ElementsAre("before 0", "after 1"));

  asked.clear();
  ASSERT_TRUE(bring(nightly));
  EXPECT_THAT(asked, IsEmpty()) << "the build is there";
}

TEST_F(DiskBudgetTest, IsAskedAfterAFetchThatFailed) {
  world.publish("2026-01-01", 0);
  auto nightly = announced("2026-01-01");
  world.index.files.begin()->second.trouble = Error{ErrorCode::unavailable, "503"};
  ASSERT_FALSE(bring(nightly));
  EXPECT_THAT(asked, ElementsAre("before 0", "after 0"));
}

TEST_F(DiskBudgetTest, IsAskedBeforeAndAfterEachCompanionIsFetched) {
  fakes::FakeFetcher::CompanionWheel wheel;
  wheel.name = "nvidia-cudnn-cu13";
  wheel.version = "9.15.1";
  wheel.library = "nvidia/cudnn/lib/libcudnn.so.9";
  world.publish_wheel("2026-01-01", 0).needs = {"nvidia-cudnn-cu13==9.15.1"};
  world.index.companions[world.options.feed.url + "/whl/nightly/cu130/" + wheel.name + "/" +
                         "nvidia_cudnn_cu13-9.15.1-py3-none-manylinux_2_27_x86_64.whl"] = wheel;
  auto nightly = announced("2026-01-01");
  auto const brought = bring(nightly);
  ASSERT_TRUE(brought) << brought.error().message;
  ASSERT_TRUE(brought->build) << brought->note;
  EXPECT_THAT(asked, ElementsAre("before 0", "after 1", "before 1", "after 2"));
}

}  // namespace
}  // namespace torchwatch::builds
