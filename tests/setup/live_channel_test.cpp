#include "daemon/setup/live_channel.h"

#include <map>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>

#include "storage/base/date.h"
#include "tests/runner/run.h"

namespace torchwatch::setup {
namespace {

namespace asio = boost::asio;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class DayClock final : public Clock {
 public:
  Timestamp now() const override { return *day_of("2026-11-28"); }
};

/// An index that has pages of some channels, each with one nightly.
class FakeIndex final : public builds::Fetcher {
 public:
  asio::awaitable<Result<fetch::Fetched>> fetch(fetch::FetchRequest) override {
    co_return Error{ErrorCode::internal, "not asked for"};
  }

  asio::awaitable<Result<fetch::CompanionFile>> find(fetch::CompanionRequest) override {
    co_return Error{ErrorCode::internal, "not asked for"};
  }

  asio::awaitable<Result<fetch::Index>> look_into(fetch::IndexRequest request) override {
    asked.push_back(request.filter.variant);
    if (is_away) co_return Error{ErrorCode::unavailable, "no answer"};
    fetch::Index index;
    auto const page = pages.find(request.page.url);
    index.end = fetch::Downloaded::End::absent;
    if (page == pages.end()) co_return index;
    index.end = fetch::Downloaded::End::whole;
    fetch::Offer offer;
    offer.package.date = page->second;
    index.offers.push_back(offer);
    co_return index;
  }

  std::map<std::string, std::string> pages;  ///< dates of their nightlies, by URL
  std::vector<std::string> asked;            ///< channels
  bool is_away = false;
};

class LiveChannelTest : public testing::Test {
 protected:
  void publish(std::string const& channel, std::string const& date) {
    index_.pages["https://index.example/whl/nightly/" + channel + "/torch/"] = date;
  }

  Result<std::string> channel(std::string cuda) {
    config::FeedOptions feed;
    feed.url = "https://index.example";
    boost::asio::io_context loop{1};
    DayClock const clock;
    return tests::run(loop, live_channel(index_, feed, std::move(cuda), clock));
  }

  FakeIndex index_;
};

TEST_F(LiveChannelTest, IsTheNewestThatTheDriverRuns) {
  publish("cu126", "2026-11-28");
  publish("cu130", "2026-11-27");
  publish("cu132", "2026-11-28");
  EXPECT_EQ(channel("13.2").value(), "cu132");
  EXPECT_EQ(channel("13.1").value(), "cu130");
  EXPECT_EQ(channel("12.9").value(), "cu126");
}

TEST_F(LiveChannelTest, IsNotAChannelThatIsNoLongerBuilt) {
  publish("cu128", "2026-04-07");
  publish("cu126", "2026-11-26");
  EXPECT_EQ(channel("12.8").value(), "cu126");
}

TEST_F(LiveChannelTest, IsMissingWhereAllThatFitAreDead) {
  publish("cu128", "2026-04-07");
  publish("cu130", "2026-11-28");
  auto const none = channel("12.8");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
  EXPECT_THAT(none.error().message, HasSubstr("cu128 ends with 2026-04-07"));
}

TEST_F(LiveChannelTest, IsAskedForOnceWhereTheIndexDoesNotAnswer) {
  index_.is_away = true;
  EXPECT_EQ(channel("13.0").error().code, ErrorCode::unavailable);
  EXPECT_THAT(index_.asked, SizeIs(1));
}

TEST(ChannelsFor, AreThoseOfOlderCuda) {
  auto const channels = channels_for("13.1");
  ASSERT_THAT(channels, SizeIs(12));
  EXPECT_EQ(channels[0], "cu131");
  EXPECT_EQ(channels[1], "cu130");
  EXPECT_EQ(channels[2], "cu129");
  EXPECT_EQ(channels.back(), "cu120");
  EXPECT_THAT(channels_for(""), IsEmpty());
  EXPECT_THAT(channels_for("13"), IsEmpty());
}

}  // namespace
}  // namespace torchwatch::setup
