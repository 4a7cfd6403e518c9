#include "daemon/feed/news.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/store.h"
#include "tests/storage/samples.h"

namespace torchwatch::feed {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Nightly on(std::string const& day, char commit = 'a') {
  Nightly nightly;
  nightly.date = "2026-01-" + day;
  nightly.commit = tests::sha_of(commit);
  return nightly;
}

Nightly file_on(std::string const& day,
                std::string const& etag = "",
                std::string const& sha256 = "") {
  Nightly nightly;
  nightly.date = "2026-01-" + day;
  nightly.version = "2.9.0.dev202601" + day + "+cpu";
  nightly.file = PublishedFile{"https://index/" + day + ".whl", sha256, etag, ""};
  return nightly;
}

std::vector<std::string> days_of(std::vector<Nightly> const& nightlies) {
  std::vector<std::string> days;
  for (auto const& nightly : nightlies)
    days.push_back(nightly.date.substr(8));
  return days;
}

TEST(News, AtFirstAreTheNewestFew) {
  EXPECT_THAT(days_of(news_in({on("03"), on("01"), on("02")}, {}, 2)), ElementsAre("02", "03"));
}

/// Returns the days of a month, in an empty store, that are compared with what is found.
std::vector<std::string> days_near(std::vector<Nightly> const& found) {
  tests::TemporaryFolder const folder;
  auto store = storage::Store::open(folder.database()).value();
  for (int day = 10; day < 30; ++day)
    store.nightlies().announce(on(std::to_string(day)));
  return days_of(known_near(found, store.nightlies()));
}

TEST(News, AreComparedWithTheLastWeek) {
  auto const week = ElementsAre("23", "24", "25", "26", "27", "28", "29");
  EXPECT_THAT(days_near({}), week);
  EXPECT_THAT(days_near({on("30")}), week);
}

TEST(News, AreComparedWithAllNightliesSinceTheOldestFound) {
  EXPECT_THAT(days_near({on("28"), on("22")}),
              ElementsAre("22", "23", "24", "25", "26", "27", "28", "29"));
}

TEST(News, AreWhatIsNewer) {
  EXPECT_THAT(days_of(news_in({on("01"), on("02"), on("03", 'b')}, {on("02")}, 1)),
              ElementsAre("03"));
}

TEST(News, MayHaveTheDateOfTheNewest) {
  EXPECT_THAT(days_of(news_in({on("02", 'b')}, {on("02", 'a')}, 1)), ElementsAre("02"));
}

TEST(News, MayBeLateByAFewDays) {
  std::vector<Nightly> known;
  for (auto const* const day : {"10", "11", "13", "14", "15", "16", "17", "18", "20"})
    known.push_back(on(day));
  EXPECT_THAT(days_of(news_in({on("12"), on("19"), on("14", 'b')}, known, 1)), ElementsAre("19"))
      << "day 12 is too long ago, day 14 had its nightly";
}

TEST(News, AreNotOlderThanTheFirst) {
  EXPECT_THAT(news_in({on("01")}, {on("02")}, 9), IsEmpty());
}

TEST(News, OfAFileComeOnceWhateverItsAddressAndETag) {
  auto const known = file_on("02", "\"1\"", "abc");
  EXPECT_THAT(news_in({file_on("02")}, {known}, 1), IsEmpty());
  EXPECT_THAT(news_in({file_on("02", "\"2\"", "abc")}, {known}, 1), IsEmpty());
  auto elsewhere = known;
  elsewhere.file->url = "https://elsewhere/02.whl";
  EXPECT_THAT(news_in({elsewhere}, {known}, 1), IsEmpty());
}

TEST(News, ComeAgainWithOtherContents) {
  auto const known = file_on("02", "\"1\"", "abc");
  EXPECT_THAT(days_of(news_in({file_on("02", "", "def")}, {known}, 1)), ElementsAre("02"));
  EXPECT_THAT(news_in({file_on("02", "", "abc")}, {known, file_on("02", "", "def")}, 1), IsEmpty())
      << "an older edition";
}

TEST(News, OfAnotherPythonAreTheSameNightly) {
  auto const known = file_on("02", "", "abc");
  auto other = file_on("02", "", "def");
  other.file->url = "https://index/02-cp314.whl";
  EXPECT_THAT(news_in({other}, {known}, 1), IsEmpty());
}

TEST(News, OfAnotherVersionOfTheDateAreAnotherNightly) {
  auto other = file_on("02");
  other.version = "2.10.0.dev20260102+cpu";
  EXPECT_THAT(days_of(news_in({other}, {file_on("02")}, 1)), ElementsAre("02"));
}

TEST(Moved, FileThatWasDownloadedHasOnlyAnotherAddress) {
  auto known = file_on("02", "\"1\"", "abc");
  known.state = NightlyState::done;
  auto found = file_on("02", "", "def");
  found.file->url = "https://elsewhere/02.whl";
  auto const moved = moved_in({found}, {known});
  ASSERT_THAT(moved, SizeIs(1));
  EXPECT_EQ(moved[0].file->url, found.file->url);
  EXPECT_EQ(moved[0].file->sha256, "abc");
  EXPECT_THAT(moved_in({found}, moved), IsEmpty());
}

TEST(Moved, FileThatIsNotDownloadedYetHasTheDigestOfThePage) {
  auto const moved = moved_in({file_on("02", "", "def")}, {file_on("02", "", "abc")});
  ASSERT_THAT(moved, SizeIs(1));
  EXPECT_EQ(moved[0].file->sha256, "def");
}

TEST(Moved, EditionKeepsItsDigestWhereThePageHasTheEarlierOne) {
  auto first = file_on("02", "", "abc");
  first.id.value = 1;
  first.state = NightlyState::done;
  auto second = file_on("02", "", "def");
  second.id.value = 2;
  EXPECT_THAT(moved_in({file_on("02", "", "abc")}, {first, second}), IsEmpty());
}

TEST(Moved, BuildInAnotherDirectoryIsFollowed) {
  auto known = on("02");
  known.prefix = "/feed/latest";
  auto found = on("02");
  found.prefix = "/feed/2026-01-02";
  auto const moved = moved_in({found}, {known});
  ASSERT_THAT(moved, SizeIs(1));
  EXPECT_EQ(moved[0].prefix, found.prefix);
  EXPECT_THAT(moved_in({on("02")}, {known}), IsEmpty()) << "a branch has no builds";
}

}  // namespace
}  // namespace torchwatch::feed
