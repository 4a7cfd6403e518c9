#include "daemon/feed/directory.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/memory/fake_builder.h"
#include "tests/runner/run.h"
#include "tests/storage/samples.h"
#include "tests/temporary_folder.h"

namespace torchwatch::feed {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class DirectoryTest : public testing::Test {
 protected:
  DirectoryTest() {
    fs::create_directory(feed_);
    options_.path = feed_.string();
  }

  void deliver(std::string const& name, std::string const& date, char commit) const {
    fakes::FakeBuilder::deliver(feed_ / name, tests::sha_of(commit), date);
  }

  void link(std::string const& name, fs::path const& target) const {
    fs::create_directory_symlink(target, feed_ / name);
  }

  Found look() {
    Directory directory{options_};
    return tests::run(loop_, directory.look()).value();
  }

  /// Returns the places of the nightlies, relative to the folder of the feed.
  std::vector<std::string> places() {
    std::vector<std::string> all;
    for (auto const& nightly : look().nightlies)
      all.push_back(fs::path{nightly.prefix}.lexically_relative(feed_).string());
    return all;
  }

  tests::TemporaryFolder folder_;
  fs::path feed_ = fs::canonical(folder_.path()) / "nightlies";
  config::FeedOptions options_;
  boost::asio::io_context loop_{1};
};

TEST_F(DirectoryTest, LinksToEntriesOfTheFeedAreSkipped) {
  deliver("2026-01-01", "2026-01-01", 'a');
  deliver("2026-01-02", "2026-01-02", 'b');
  link("latest", "2026-01-02");
  link("0-stable", feed_ / "2026-01-01");
  link("newest", "latest");
  EXPECT_THAT(places(), ElementsAre("2026-01-01", "2026-01-02"));
}

TEST_F(DirectoryTest, LinksOutOfTheFeedAreNightliesWhereTheyLead) {
  fakes::FakeBuilder::deliver(feed_ / "../archive/7", tests::sha_of('a'), "2026-01-01");
  link("2026-01-01", "../archive/7");
  link("latest", "../archive/7");
  EXPECT_THAT(places(), ElementsAre("../archive/7"));
}

TEST_F(DirectoryTest, FeedThatIsALinkIsReadWhereItLeads) {
  deliver("2026-01-01", "2026-01-01", 'a');
  fs::create_directory_symlink(feed_, feed_.parent_path() / "current");
  options_.path = (feed_.parent_path() / "current").string();
  EXPECT_THAT(places(), ElementsAre("2026-01-01"));
}

TEST_F(DirectoryTest, CopyIsTheNightlyOfTheDirectoryWithItsDate) {
  deliver("latest", "2026-01-02", 'b');
  deliver("20260102-cpu", "2026-01-02", 'b');
  deliver("2026-01-01", "2026-01-01", 'a');
  deliver("00-first", "2026-01-01", 'a');
  EXPECT_THAT(places(), ElementsAre("2026-01-01", "20260102-cpu"));
}

TEST_F(DirectoryTest, CopyIsTheNightlyOfTheDirectoryWithANumber) {
  deliver("latest", "2026-01-02", 'b');
  deliver("nightly-17", "2026-01-02", 'b');
  EXPECT_THAT(places(), ElementsAre("nightly-17"));
}

TEST_F(DirectoryTest, NightliesComeByDateAndName) {
  deliver("3", "2026-01-02", 'c');
  deliver("1", "2026-01-02", 'a');
  deliver("4", "2026-01-02", 'd');
  deliver("2", "2026-01-02", 'b');
  deliver("9", "2026-01-01", 'a');
  EXPECT_THAT(places(), ElementsAre("9", "1", "2", "3", "4"));
}

TEST_F(DirectoryTest, LinkToAnOddEntryIsNotOddAgain) {
  deliver("odd", "", 'a');
  link("latest", "odd");
  auto const found = look();
  EXPECT_THAT(found.nightlies, IsEmpty());
  EXPECT_THAT(found.odd, ElementsAre((feed_ / "odd/build.json").string() + ": has no date"));
}

TEST_F(DirectoryTest, BrokenLinkIsSkipped) {
  link("latest", "gone");
  auto const found = look();
  EXPECT_THAT(found.nightlies, IsEmpty());
  EXPECT_THAT(found.odd, IsEmpty());
}

}  // namespace
}  // namespace torchwatch::feed
