#include "daemon/feed/staleness.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "storage/base/date.h"

namespace torchwatch::feed {
namespace {

using testing::AllOf;
using testing::HasSubstr;

config::FeedOptions wheels() {
  config::FeedOptions feed;
  feed.kind = config::FeedKind::wheels;
  feed.channel = "cu128";
  return feed;
}

std::string why(config::FeedOptions const& feed, std::string const& today) {
  return why_stale(feed, "2026-04-07", "", *day_of(today));
}

TEST(StaleFeed, IsOlderThanTheConfigurationAllows) {
  EXPECT_EQ(why(wheels(), "2026-04-17"), "");
  EXPECT_THAT(why(wheels(), "2026-04-18"),
              AllOf(HasSubstr("the newest nightly is of 2026-04-07, 11 days ago"),
                    HasSubstr("feed.stale_days allows 10"),
                    HasSubstr("is channel cu128 still built?")));
}

std::vector<Nightly> nightlies_of(std::vector<std::string> const& dates) {
  std::vector<Nightly> nightlies;
  for (auto const& date : dates)
    nightlies.emplace_back().date = date;
  return nightlies;
}

TEST(FeedBehind, HasNothingAsNewAsWhatIsKnown) {
  config::FeedOptions feed;
  feed.kind = config::FeedKind::directory;
  feed.path = "/srv/older";
  auto const known = nightlies_of({"2026-01-04", "2026-01-05"});
  EXPECT_THAT(why_behind(feed, nightlies_of({"2026-01-03", "2026-01-02"}), known),
              AllOf(HasSubstr("feed /srv/older: its newest nightly is of 2026-01-03"),
                    HasSubstr("nightly 2026-01-05 is known")));
  EXPECT_THAT(why_behind(feed, {}, known),
              AllOf(HasSubstr("it has no nightly"), HasSubstr("state_dir")));
}

TEST(FeedBehind, IsNoneThatHasTheNewestOrIsTheFirst) {
  auto const known = nightlies_of({"2026-01-05"});
  EXPECT_EQ(why_behind(wheels(), nightlies_of({"2026-01-04", "2026-01-05"}), known), "");
  EXPECT_EQ(why_behind(wheels(), nightlies_of({"2026-01-06"}), known), "");
  EXPECT_EQ(why_behind(wheels(), {}, {}), "");
}

TEST(StaleFeed, MayBeAllowed) {
  auto feed = wheels();
  feed.stale_days = 0;
  EXPECT_EQ(why(feed, "2027-01-01"), "");
}

TEST(StaleFeed, OfADroppedPythonNamesTheOthers) {
  auto feed = wheels();
  feed.python = "cp310";
  EXPECT_THAT(why_stale(feed, "2026-04-07", "cp312", *day_of("2026-11-28")),
              HasSubstr("; newer nightlies exist for cp312, feed.python is \"cp310\""));
}

TEST(StaleFeed, OfAnotherKindIsNoMatterOfChannels) {
  config::FeedOptions feed;
  feed.kind = config::FeedKind::directory;
  EXPECT_EQ(why(feed, "2026-05-07"),
            "the newest nightly is of 2026-04-07, 30 days ago; feed.stale_days allows 10");
}

}  // namespace
}  // namespace torchwatch::feed
