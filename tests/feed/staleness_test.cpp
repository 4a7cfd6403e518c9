#include "daemon/feed/staleness.h"

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
