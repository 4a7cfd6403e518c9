#include "daemon/feed/news.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage/samples.h"

namespace torchwatch::feed {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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

TEST(News, OfAFileComeOnce) {
  auto const known = file_on("02", "\"1\"");
  EXPECT_THAT(news_in({file_on("02")}, {known}, 1), IsEmpty()) << "a page knows no versions";
  EXPECT_THAT(news_in({file_on("02", "\"1\"")}, {known}, 1), IsEmpty());
}

TEST(News, ComeAgainWithOtherContents) {
  auto const known = file_on("02", "\"1\"");
  EXPECT_THAT(days_of(news_in({file_on("02", "\"2\"")}, {known}, 1)), ElementsAre("02"));
  EXPECT_THAT(days_of(news_in({file_on("02", "", "abc")}, {known}, 1)), ElementsAre("02"));
}

}  // namespace
}  // namespace torchwatch::feed
