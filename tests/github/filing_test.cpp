#include <algorithm>
#include <memory>
#include <optional>

#include <gmock/gmock.h>

#include "github/comment.h"
#include "github/issue.h"
#include "storage/domain/project.h"
#include "tests/github/github_fixture.h"
#include "tests/github/stories.h"

/// Files issues over real TLS at a fake GitHub that stores them and fails on request.
namespace torchwatch::github {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

class Filing : public WithFakeGithub {
 protected:
  ClientOptions options() const {
    ClientOptions options;
    options.api = server_->url();
    options.repository = "pytorch/pytorch";
    options.tokens = std::make_shared<FixedToken>("good");
    options.retries = retries_;
    return options;
  }

  /// Returns the result of `ask` with a client; waiting takes no time.
  template <class Ask>
  auto with_client(Ask ask) {
    auto https = transport(timeout_);
    Client client{https, clock_, [this](seconds pause) { return wait(pause); }, options()};
    return fakes::run(ask(client));
  }

  /// As the service does it, which stores when a create was sent.
  Result<CreatedIssue> file(IssueDraft const& draft) {
    SentCreate sent;
    sent.at = sent_at_;
    sent.store = [this](std::optional<Timestamp> at) {
      sent_at_ = at;
    };
    auto filed =
        with_client([&](Client& client) { return client.file_once(draft, std::move(sent)); });
    if (filed) sent_at_.reset();
    return filed;
  }

  Result<std::optional<std::string>> add_comment() {
    return with_client([&](Client& client) {
      return client.comment_once(
          "https://github.com/pytorch/pytorch/issues/1", comment_, SentCreate{});
    });
  }

  /// Lists show new issues only after so much waiting.
  void lag(seconds lag) {
    lag_ = lag;
    change({{"settings", {{"lag_s", 3600}}}});
  }

  std::size_t issues() const { return github_.state()["issues"].size(); }

  std::ptrdiff_t posts() const {
    auto const state = github_.state();
    auto const& requests = state["requests"];
    return std::count_if(requests.begin(), requests.end(), [](json const& request) {
      return request["method"] == "POST";
    });
  }

  IssueDraft const draft_ = draft_issue(culprit_story(), {{"torchbench-perf-report"}});
  CommentDraft const comment_ =
      draft_comment(culprit_story(), event_of(IncidentEventKind::explained), project_url);
  SystemClock clock_;
  seconds timeout_{10};
  int retries_ = 5;
  std::vector<seconds> pauses_;
  std::optional<Timestamp> sent_at_;

 private:
  boost::asio::awaitable<void> wait(seconds pause) {
    pauses_.push_back(pause);
    lag_ -= pause;
    if (lag_ <= seconds{0}) change({{"settings", {{"lag_s", 0}}}});
    co_return;
  }

  seconds lag_{0};
};

TEST_F(Filing, CreatesTheIssue) {
  auto const filed = file(draft_);
  ASSERT_TRUE(filed) << filed.error().message;
  EXPECT_EQ(filed->number, 1);
  EXPECT_EQ(filed->url, "https://github.com/pytorch/pytorch/issues/1");
  auto const issue = github_.state()["issues"][0];
  EXPECT_EQ(issue["title"], draft_.title);
  EXPECT_EQ(issue["body"], draft_.body);
  EXPECT_EQ(issue["labels"][0]["name"], "torchbench-perf-report");
}

TEST_F(Filing, FindsTheIssueAgainEvenWhenClosed) {
  ASSERT_TRUE(file(draft_));
  ASSERT_EQ(ask("PATCH", "/repos/pytorch/pytorch/issues/1", R"({"state":"closed"})")->status, 200);
  auto const again = file(draft_);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->existed);
  EXPECT_EQ(again->number, 1);
  EXPECT_EQ(issues(), 1U);
}

TEST_F(Filing, OfTwoIncidents_CreatesTwoIssues) {
  ASSERT_TRUE(file(draft_));
  auto story = culprit_story();
  story.nightly.commit = sha_of('9');
  auto const other = file(draft_issue(story, {{"torchbench-perf-report"}}));
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_FALSE(other->existed);
  EXPECT_EQ(issues(), 2U);
}

TEST_F(Filing, IsNotRepeatedWhenTheConnectionDropsAfterCreation) {
  fail({{"method", "POST"}, {"path", "/issues"}, {"after", true}, {"drop", true}});
  auto const filed = file(draft_);
  ASSERT_TRUE(filed) << filed.error().message;
  EXPECT_TRUE(filed->existed);
  EXPECT_EQ(issues(), 1U);
  EXPECT_EQ(posts(), 1);
}

TEST_F(Filing, IsNotRepeatedWhenGithubFailsAfterCreation) {
  fail({{"method", "POST"}, {"path", "/issues"}, {"after", true}, {"status", 502}});
  auto const filed = file(draft_);
  ASSERT_TRUE(filed) << filed.error().message;
  EXPECT_EQ(issues(), 1U);
  EXPECT_EQ(posts(), 1);
}

TEST_F(Filing, IsNotRepeatedWhenTheAnswerIsTooSlow) {
  timeout_ = seconds{1};
  fail({{"method", "POST"}, {"path", "/issues"}, {"after", true}, {"delay_ms", 1500}});
  auto const filed = file(draft_);
  ASSERT_TRUE(filed) << filed.error().message;
  EXPECT_EQ(issues(), 1U);
  EXPECT_EQ(posts(), 1);
}

TEST_F(Filing, IsRepeatedWhenNothingWasCreated) {
  fail({{"method", "POST"}, {"path", "/issues"}, {"drop", true}});
  fail({{"method", "POST"}, {"path", "/issues"}, {"status", 503}});
  auto const filed = file(draft_);
  ASSERT_TRUE(filed) << filed.error().message;
  EXPECT_EQ(issues(), 1U);
  EXPECT_EQ(posts(), 3);
}

TEST_F(Filing, WaitsForRateLimits) {
  fail({{"method", "POST"},
        {"status", 403},
        {"message", "You have exceeded a secondary rate limit."},
        {"headers", {{"retry-after", "90"}}}});
  auto const filed = file(draft_);
  ASSERT_TRUE(filed) << filed.error().message;
  EXPECT_THAT(pauses_, ElementsAre(seconds{1}, seconds{90}));
  EXPECT_EQ(issues(), 1U);
}

TEST_F(Filing, WaitsUntilTheHourlyLimitIsReset) {
  change({{"settings", {{"hourly_limit", 1}}}});
  auto const filed = file(draft_);
  ASSERT_FALSE(filed);
  EXPECT_EQ(filed.error().code, ErrorCode::unavailable);
  ASSERT_FALSE(pauses_.empty());
  EXPECT_GT(pauses_.front(), seconds{3500});
  EXPECT_LE(pauses_.front(), seconds{3601});
}

TEST_F(Filing, FollowsARenamedRepository) {
  change({{"settings", {{"repository", "pytorch/torch"}, {"renamed_from", "pytorch/pytorch"}}}});
  auto const filed = file(draft_);
  ASSERT_TRUE(filed) << filed.error().message;
  auto const again = file(draft_);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->existed);
  auto const state = github_.state();
  EXPECT_EQ(state["issues"].size(), 1U);
  EXPECT_EQ(state["issues"][0]["body"], draft_.body);
}

TEST_F(Filing, FindsItsIssueBehindHundredsOfOthers) {
  ASSERT_TRUE(file(draft_));
  auto others = json::array();
  for (int i = 0; i < 250; ++i) {
    others.push_back({{"title", "other"}, {"labels", {{{"name", "torchbench-perf-report"}}}}});
  }
  others.back()["body"] = draft_.body;
  others.back()["pull_request"] = json::object();
  change({{"issues", others}});
  auto const again = file(draft_);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->existed);
  EXPECT_EQ(again->number, 1);
  EXPECT_EQ(
      github_.state()["requests"].back()["target"],
      "/repositories/65600975/issues?labels=torchbench-perf-report&page=3&per_page=100&state=all");
}

TEST_F(Filing, IsFiledOnceThoughLabelsAreDropped) {
  change({{"settings", {{"push", false}}}});
  auto const filed = file(draft_);
  ASSERT_TRUE(filed) << filed.error().message;
  EXPECT_THAT(filed->missing_labels, ElementsAre("torchbench-perf-report"));
  auto const again = file(draft_);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->existed);
  EXPECT_EQ(issues(), 1U);
}

TEST_F(Filing, IsFiledOnceByATokenThatMayTriageAloneAndWhoseAnswerIsLost) {
  change({{"settings", {{"push", false}, {"triage", true}}}});
  fail({{"method", "POST"}, {"path", "/issues"}, {"after", true}, {"status", 502}});
  auto const filed = file(draft_);
  ASSERT_TRUE(filed) << filed.error().message;
  EXPECT_TRUE(filed->existed);
  EXPECT_THAT(filed->missing_labels, ElementsAre("torchbench-perf-report"));
  EXPECT_EQ(issues(), 1U);
  EXPECT_EQ(posts(), 1);
}

TEST_F(Filing, IsNotRepeatedWhileTheListLags) {
  lag(seconds{20});
  fail({{"method", "POST"}, {"path", "/issues"}, {"after", true}, {"drop", true}});
  auto const filed = file(draft_);
  ASSERT_TRUE(filed) << filed.error().message;
  EXPECT_TRUE(filed->existed);
  EXPECT_THAT(pauses_, ElementsAre(seconds{1}, seconds{2}, seconds{4}, seconds{8}, seconds{16}));
  EXPECT_EQ(posts(), 1);
}

TEST_F(Filing, IsNotRepeatedAfterACrashBeforeTheAnswerThoughTheListLags) {
  lag(seconds{20});
  fail({{"method", "POST"}, {"path", "/issues"}, {"after", true}, {"drop", true}});
  retries_ = 0;
  ASSERT_FALSE(file(draft_)) << "it ends when the answer does not come";
  ASSERT_TRUE(sent_at_);
  auto const filed = file(draft_);
  ASSERT_TRUE(filed) << filed.error().message;
  EXPECT_TRUE(filed->existed);
  EXPECT_EQ(posts(), 1);
}

TEST_F(Filing, TakesNoIssueOfAnotherAuthorForItsOwn) {
  json forged{{"title", draft_.title}, {"body", draft_.body}};
  forged["labels"] = {{{"name", "torchbench-perf-report"}}, {{"name", "false-alarm"}}};
  forged["user"] = {{"login", "mallory"}, {"type", "User"}};
  change({{"issues", json::array({forged})}});
  auto const filed = file(draft_);
  ASSERT_TRUE(filed) << filed.error().message;
  EXPECT_FALSE(filed->existed);
  EXPECT_EQ(filed->number, 2);

  auto const ask = [](Client& client) {
    return client.keys_labelled("false-alarm");
  };
  EXPECT_THAT(with_client(ask).value(), testing::IsEmpty());
  change({{"labelled", {{"2", {"false-alarm"}}}}});
  EXPECT_THAT(with_client(ask).value(), ElementsAre(draft_.key));
}

TEST_F(Filing, IsFiledOnceByAnApp) {
  change({{"settings", {{"login", "watch[bot]"}}}});
  fail({{"method", "POST"}, {"path", "/issues"}, {"after", true}, {"drop", true}});
  ASSERT_TRUE(file(draft_));
  auto const again = file(draft_);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->existed);
  EXPECT_EQ(issues(), 1U);
}

TEST_F(Filing, NamesTheAddressAtWhichAnOrganizationAuthorizesTheToken) {
  auto const* const address = "https://github.com/orgs/pytorch/sso?authorization_request=AAAA";
  change({{"settings", {{"sso", address}}}});
  auto const says_address = HasSubstr(std::string{"authorize the token at "} + address);
  EXPECT_THAT(file(draft_).error().message, says_address);
  auto const access = with_client([](Client& client) { return client.access(); });
  EXPECT_THAT(access.error().message, says_address);
}

TEST_F(Filing, AddsACommentOnce) {
  ASSERT_TRUE(file(draft_));
  fail({{"method", "POST"}, {"path", "/comments"}, {"after", true}, {"drop", true}});
  for (int time = 0; time < 2; ++time) {
    auto const added = add_comment();
    ASSERT_TRUE(added) << added.error().message;
    EXPECT_EQ(*added, "https://github.com/pytorch/pytorch/issues/1#issuecomment-1");
  }
  auto const state = github_.state();
  ASSERT_EQ(state["comments"].size(), 1U);
  EXPECT_EQ(state["comments"][0]["body"], comment_.body);
}

TEST_F(Filing, AddsACommentWhereTheRepositoryWasRenamed) {
  ASSERT_TRUE(file(draft_));
  change({{"settings", {{"repository", "pytorch/torch"}, {"renamed_from", "pytorch/pytorch"}}}});
  auto const added = add_comment();
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_TRUE(*added);
  EXPECT_EQ(github_.state()["comments"].size(), 1U);
}

TEST_F(Filing, AddsNoCommentToAnIssueThatIsLockedOrGone) {
  ASSERT_TRUE(file(draft_));
  ASSERT_EQ(ask("PUT", "/repos/pytorch/pytorch/issues/1/lock", "{}")->status, 204);
  change({{"settings", {{"push", false}}}});
  EXPECT_FALSE(add_comment().value());
  change({{"settings", {{"push", true}}}});
  EXPECT_TRUE(add_comment().value()) << "users with write access may";

  change({{"deleted", {1}}});
  EXPECT_FALSE(add_comment().value());
  EXPECT_EQ(github_.state()["comments"].size(), 1U);
}

TEST_F(Filing, ReportsABadTokenAndDisabledIssues) {
  change({{"settings", {{"token", "another"}}}});
  auto const stranger = file(draft_);
  ASSERT_FALSE(stranger);
  EXPECT_EQ(stranger.error().code, ErrorCode::refused);
  EXPECT_THAT(stranger.error().message, HasSubstr("HTTP 401: Bad credentials"));
  change({{"settings", {{"token", ""}, {"issues", false}}}});
  auto const closed = file(draft_);
  ASSERT_FALSE(closed);
  EXPECT_THAT(closed.error().message, HasSubstr("HTTP 410: Issues are disabled"));
}

}  // namespace
}  // namespace torchwatch::github
