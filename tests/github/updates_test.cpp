#include "github/updates.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "github/client.h"
#include "tests/fakes/github/direct_transport.h"
#include "tests/fakes/github/run.h"

namespace torchwatch::github {
namespace {

using nlohmann::json;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Timestamp noon{std::chrono::seconds{1'767'355'200}};  // 2026-01-02T12:00:00Z

boost::asio::awaitable<void> no_delay(std::chrono::seconds) {
  co_return;
}

/// A client at a fake GitHub with issue 1, in which people comment.
class UpdatesTest : public testing::Test {
 protected:
  UpdatesTest() {
    change({{"issues", {{{"title", "slower"}, {"body", "x"}, {"user", {{"login", "bot"}}}}}},
            {"settings", {{"permissions", {{"ada", "write"}, {"root", "admin"}}}}}});
  }

  void change(json const& control) { github_.control(control, fakes::DirectTransport::host()); }

  void comment(std::string const& user, std::string const& body, std::string const& time) {
    json const one{{"issue", 1}, {"user", user}, {"body", body}, {"created_at", time}};
    change({{"comments", json::array({one})}});
  }

  void close(std::string const& by, std::string const& reason = "completed") {
    json const closing{{"by", by}, {"at", "2026-01-02T12:00:00Z"}, {"state_reason", reason}};
    change({{"closings", {{"1", closing}}}});
  }

  Updates<IssueComment> comments(ListPlace place = {}) {
    return fakes::run(client_.comments_since(std::move(place))).value();
  }

  std::optional<Closing> closing() {
    return fakes::run(client_.closing_of("https://github.com/pytorch/pytorch/issues/1")).value();
  }

  Result<bool> may_write(std::string login) {
    return fakes::run(client_.may_write(std::move(login)));
  }

  json reactions() const { return github_.state().value("reactions", json::array()); }

  static ClientOptions options() {
    ClientOptions options;
    options.repository = "pytorch/pytorch";
    options.tokens = std::make_shared<FixedToken>("token-of-16-bytes");
    return options;
  }

  fakes::FakeGithub github_{""};
  fakes::DirectTransport transport_{github_};
  SystemClock clock_;
  Client client_{transport_, clock_, no_delay, options()};
};

TEST_F(UpdatesTest, AreCommentsWithTheirIssueAndTimes) {
  comment("ada", "/torchwatch status", "2026-01-02T12:00:00Z");
  change({{"edited", {{"1", {{"updated_at", "2026-01-02T12:00:05Z"}}}}}});

  auto const read = comments();

  ASSERT_THAT(read.items, SizeIs(1));
  auto const& one = read.items.front();
  EXPECT_EQ(one.id, 1);
  EXPECT_EQ(one.issue, "https://github.com/pytorch/pytorch/issues/1");
  EXPECT_EQ(one.who, "ada");
  EXPECT_EQ(one.body, "/torchwatch status");
  EXPECT_EQ(one.written_at, noon);
  EXPECT_TRUE(one.is_edited());
  EXPECT_FALSE(read.is_full);
}

TEST_F(UpdatesTest, BeginAtTheirTimeWithTheOldestChange) {
  comment("ada", "second", "2026-01-02T12:00:00Z");
  comment("ada", "first", "2026-01-02T11:59:00Z");
  comment("ada", "old", "2026-01-02T11:00:00Z");

  ListPlace place;
  place.since = noon - std::chrono::minutes{1};
  auto const read = comments(place);

  ASSERT_THAT(read.items, SizeIs(2));
  EXPECT_EQ(read.items.front().body, "first");
}

TEST_F(UpdatesTest, AreUnchangedForTheSameEtag) {
  comment("ada", "x", "2026-01-02T12:00:00Z");
  ListPlace place;
  place.etag = comments().etag;

  EXPECT_TRUE(comments(place).is_unchanged);
  comment("ada", "y", "2026-01-02T12:00:00Z");
  EXPECT_FALSE(comments(place).is_unchanged);
}

TEST_F(UpdatesTest, AreFullWithAHundredItems) {
  for (int i = 0; i < 101; ++i)
    comment("ada", "x", "2026-01-02T12:00:00Z");
  EXPECT_TRUE(comments().is_full);
  EXPECT_THAT(comments().items, SizeIs(100));
}

TEST_F(UpdatesTest, SkipsWhatIsNoComment) {
  EXPECT_FALSE(read_comment(json::array()));
  EXPECT_FALSE(read_comment({{"id", 1}}));
  EXPECT_FALSE(read_comment({{"id", 1.5},
                             {"created_at", "2026-01-02T12:00:00Z"},
                             {"updated_at", "2026-01-02T12:00:00Z"}}));
  for (auto const* const time : {"", "2026-01-02", "2026-13-02T12:00:00Z", "2026-01-02T12.00.00Z"})
    EXPECT_EQ(time_at({{"at", time}}, "at"), std::nullopt) << time;
  EXPECT_EQ(time_at({{"at", "2026-01-02T12:00:00Z"}}, "at"), noon);
  EXPECT_EQ(time_text(noon), "2026-01-02T12:00:00Z");
}

TEST_F(UpdatesTest, TellWhoMayWrite) {
  EXPECT_EQ(may_write("ada").value(), true);
  EXPECT_EQ(may_write("root").value(), true);
  EXPECT_EQ(may_write("guest").value(), false);
  EXPECT_EQ(may_write("").value(), false);
  change({{"settings", {{"push", false}}}});
  EXPECT_EQ(may_write("ada").error().code, ErrorCode::refused);
}

TEST_F(UpdatesTest, KeepOneReactionThoughItIsSentTwice) {
  comment("ada", "x", "2026-01-02T12:00:00Z");
  EXPECT_TRUE(fakes::run(client_.react_to(1)));
  EXPECT_TRUE(fakes::run(client_.react_to(1)));
  ASSERT_THAT(reactions(), SizeIs(1));
  EXPECT_EQ(reactions().at(0).at("content"), "eyes");
  EXPECT_EQ(fakes::run(client_.react_to(2)).error().code, ErrorCode::not_found);
}

TEST_F(UpdatesTest, ListClosedIssues) {
  EXPECT_THAT(fakes::run(client_.closed_since(ListPlace{})).value().items, IsEmpty());
  close("ada");
  auto const closed = fakes::run(client_.closed_since(ListPlace{})).value();
  ASSERT_THAT(closed.items, SizeIs(1));
  EXPECT_EQ(closed.items.front().page, "https://github.com/pytorch/pytorch/issues/1");
}

TEST_F(UpdatesTest, HaveNoClosingOfAnOpenIssueOrByAProgram) {
  EXPECT_FALSE(closing());
  close("bot");
  EXPECT_FALSE(closing()) << "the issue is by this user, too";
  change({{"closings", {{"1", {{"by", "stale[bot]"}, {"type", "Bot"}}}}}});
  EXPECT_FALSE(closing());
}

TEST_F(UpdatesTest, TakeTheCommentOfTheClosingMinuteAsReason) {
  comment("ada", "too early", "2026-01-02T11:58:59Z");
  comment("ada", "pays for\r\nitself", "2026-01-02T12:00:30Z");
  comment("eve", "of another user", "2026-01-02T12:00:31Z");
  comment("ada", "/torchwatch status", "2026-01-02T12:00:32Z");
  comment("ada", "too late", "2026-01-02T12:01:01Z");
  close("ada");
  EXPECT_EQ(closing()->reason, "pays for itself");
  EXPECT_EQ(closing()->who, "ada");
  EXPECT_EQ(closing()->at, noon);
}

TEST_F(UpdatesTest, TakeAnyEarlierCommentForNotPlanned) {
  comment("ada", "we want this", "2026-01-01T00:00:00Z");
  close("ada");
  EXPECT_EQ(closing()->reason, "");
  close("ada", "not_planned");
  EXPECT_EQ(closing()->reason, "we want this");
}

TEST_F(UpdatesTest, OfALostAnswerCanBeReadAgain) {
  change({{"faults", json::array({{{"path", "/issues/comments"}, {"status", 502}}})}});
  EXPECT_THAT(comments().items, IsEmpty());
}

}  // namespace
}  // namespace torchwatch::github
