#include "github/client.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/fakes/github/fake_transport.h"
#include "tests/fakes/github/run.h"

namespace torchwatch::github {
namespace {

using fakes::run;
using nlohmann::json;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Timestamp start{seconds{1'800'000'000}};

/// The stored times of sent creates, in order; nullopt when GitHub created nothing.
using Times = std::vector<std::optional<Timestamp>>;

class StoppedClock final : public Clock {
 public:
  Timestamp now() const override { return github::start; }
};

boost::asio::awaitable<void> record(std::vector<seconds>& pauses, seconds pause) {
  pauses.push_back(pause);
  co_return;
}

constexpr auto base = "https://api.github.com/repos/o/r";
std::string const marker = "<!-- torchwatch-event: 89ab -->";

/// A client whose GitHub answers by rote and whose waiting takes no time.
class GithubClient : public testing::Test {
 protected:
  GithubClient() {
    draft.key = "0123";
    draft.title = "slower";
    draft.body = marker_of(draft.key) + "\ntext";
    draft.labels = {"perf"};
    options.repository = "o/r";
    options.tokens = std::make_shared<FixedToken>("secret");
    options.user_agent = "torchwatch/1";
    options.on_repetition = [this](Error const& why) {
      repetitions.push_back(why.message);
    };
    options.on_limit = [this](Timestamp until) {
      limits.push_back(until);
    };
  }

  void reply(int status,
             json const& body = json::object(),
             std::map<std::string, std::string> headers = {}) {
    transport.replies.emplace_back(Response{status, std::move(headers), body.dump()});
  }

  void lose() { transport.replies.emplace_back(Error{ErrorCode::unavailable, "connection lost"}); }

  /// The repository and the token's user.
  void may_label() {
    reply(200, {{"permissions", {{"push", true}}}});
    reply(200, {{"login", "bot"}});
  }

  /// So many searches by label and by creator that find nothing.
  void find_nothing(int times = 1) {
    for (int i = 0; i < 2 * times; ++i)
      reply(200, json::array());
  }

  json issue(int number, std::vector<std::string> const& labels) const {
    json object{{"number", number},
                {"html_url", "https://github.com/o/r/issues/" + std::to_string(number)}};
    object["body"] = draft.body;
    object["user"] = {{"login", "Bot"}, {"type", "User"}};
    object["labels"] = json::array();
    for (auto const& label : labels)
      object["labels"].push_back({{"name", label}});
    return object;
  }

  /// The issue with the draft's key of another user.
  json forged_issue(int number) const {
    auto object = issue(number, {"perf"});
    object["user"]["login"] = "mallory";
    return object;
  }

  Result<CreatedIssue> file(std::optional<Timestamp> sent_at = {}) {
    Client client{
        transport, clock, [this](seconds pause) { return record(pauses, pause); }, options};
    SentCreate sent;
    sent.at = sent_at;
    sent.store = [this](std::optional<Timestamp> at) {
      stored.push_back(at);
    };
    return run(client.file_once(draft, std::move(sent)));
  }

  json comment(int number, std::string const& body) const {
    return {{"html_url", "https://github.com/o/r/issues/7#issuecomment-" + std::to_string(number)},
            {"body", body}};
  }

  /// The issue that the draft was filed as.
  json filed_issue() const {
    auto object = issue(7, {"perf"});
    object["comments_url"] = std::string{base} + "/issues/7/comments";
    return object;
  }

  Result<std::optional<std::string>> add_comment() {
    Client client{
        transport, clock, [this](seconds pause) { return record(pauses, pause); }, options};
    CommentDraft found{draft.key, marker, marker + "\nfound"};
    return run(
        client.comment_once("https://github.com/o/r/issues/7", std::move(found), SentCreate{}));
  }

  Result<Access> look() {
    Client client{
        transport, clock, [this](seconds pause) { return record(pauses, pause); }, options};
    return run(client.access());
  }

  /// "GET /issues?..." relative to the repository, or to the API.
  std::vector<std::string> asked() const {
    std::vector<std::string> lines;
    for (auto const& request : transport.sent) {
      auto url = request.url;
      if (url.starts_with(base)) url.erase(0, std::string_view{base}.size());
      lines.push_back(request.method + " " + url);
    }
    return lines;
  }

  fakes::FakeTransport transport;
  StoppedClock clock;
  std::vector<seconds> pauses;
  std::vector<std::string> repetitions;
  std::vector<Timestamp> limits;
  Times stored;
  ClientOptions options;
  IssueDraft draft;
};

TEST_F(GithubClient, NamesTheReportsThatCarryALabel) {
  auto other = issue(3, {});
  other["body"] = "no report";
  auto older = issue(2, {});
  older["body"] = "edited\n" + marker_of("4567") + "\n";
  reply(200,
        {issue(9, {}), other, nullptr, forged_issue(8)},
        {{"link", "<https://api.github.com/repositories/1/issues?page=2>; rel=\"next\""}});
  reply(200, json::array({older}));
  reply(200, {{"login", "bot"}});
  Client client{transport, clock, [this](seconds pause) { return record(pauses, pause); }, options};

  auto const keys = run(client.keys_labelled("false alarm"));

  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_THAT(*keys, ElementsAre("0123", "4567"));
  EXPECT_EQ(asked().front(), "GET /issues?state=all&per_page=100&labels=false%20alarm");
}

constexpr auto comments = "GET /issues/7/comments?per_page=100";

TEST_F(GithubClient, AddsACommentThatIsNotThere) {
  reply(200, filed_issue());
  reply(200, {comment(1, "the opinion of a user"), nullptr});
  reply(201, comment(2, "found"));

  auto const added = add_comment();

  ASSERT_TRUE(added) << added.error().message;
  EXPECT_EQ(*added, "https://github.com/o/r/issues/7#issuecomment-2");
  EXPECT_THAT(asked(), ElementsAre("GET /issues/7", comments, "POST /issues/7/comments"));
  EXPECT_EQ(json::parse(transport.sent.back().body), (json{{"body", marker + "\nfound"}}));
}

TEST_F(GithubClient, AddsACommentOnce) {
  reply(200, filed_issue());
  reply(200, json::array());
  lose();
  reply(200, json::array({comment(2, marker + "\nfound")}));

  auto const added = add_comment();

  ASSERT_TRUE(added) << added.error().message;
  EXPECT_EQ(*added, "https://github.com/o/r/issues/7#issuecomment-2");
  EXPECT_THAT(asked(), ElementsAre("GET /issues/7", comments, "POST /issues/7/comments", comments));
}

TEST_F(GithubClient, KnowsTheIssueOfACommentByItsAddressAsWell) {
  auto edited = filed_issue();
  edited["body"] = "rewritten by hand";
  reply(200, edited);
  reply(200, json::array());
  reply(201, comment(2, "found"));
  EXPECT_TRUE(add_comment().value());

  edited["html_url"] = "https://github.com/o/another/issues/7";
  reply(200, edited);
  EXPECT_FALSE(add_comment().value()) << "another issue";

  reply(200, "no issue");
  EXPECT_EQ(add_comment().error().code, ErrorCode::unavailable);
}

TEST_F(GithubClient, AddsNoCommentWhereTheIssueIsGone) {
  for (int const status : {404, 410}) {
    reply(status, {{"message", "gone"}});
    reply(200, {{"full_name", "o/r"}});
    auto const added = add_comment();
    ASSERT_TRUE(added) << added.error().message;
    EXPECT_FALSE(*added);
  }
}

TEST_F(GithubClient, KnowsAnIssueThatIsGoneFromARepositoryThatIsOutOfReach) {
  reply(404, {{"message", "Not Found"}});
  reply(404, {{"message", "Not Found"}});
  EXPECT_FALSE(add_comment());
  reply(404, {{"message", "Not Found"}});
  reply(200, "no repository");
  EXPECT_EQ(add_comment().error().code, ErrorCode::unavailable);
  reply(410, {{"message", "Issues are disabled for this repo"}});
  reply(200, {{"full_name", "o/r"}, {"has_issues", false}});
  EXPECT_THAT(add_comment().error().message, HasSubstr("switched off"));
}

TEST_F(GithubClient, AddsNoCommentWhereTheIssueIsLocked) {
  auto locked = filed_issue();
  locked["locked"] = true;
  reply(200, locked);
  reply(200, json::array());
  reply(403, {{"message", "Unable to create comment because issue is locked."}});
  auto const added = add_comment();
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_FALSE(*added);

  reply(200, locked);
  reply(200, json::array());
  reply(403, {{"message", "Resource not accessible by integration"}});
  EXPECT_THAT(add_comment().error().message, HasSubstr("not accessible"));
}

TEST_F(GithubClient, TakesNoTokenToCommentsOnAnotherHost) {
  auto elsewhere = filed_issue();
  elsewhere["comments_url"] = "https://evil.example/comments";
  reply(200, elsewhere);
  EXPECT_THAT(add_comment().error().message, HasSubstr("another host"));
  EXPECT_EQ(transport.sent.size(), 1U);
}

constexpr auto ask_who_it_is = "GET https://api.github.com/user";
constexpr auto search_by_label = "GET /issues?state=all&per_page=100&labels=perf";
constexpr auto search_by_creator = "GET /issues?state=all&per_page=100&creator=bot";

TEST_F(GithubClient, CreatesWhatItDoesNotFind) {
  may_label();
  find_nothing();
  reply(201, issue(7, {"Perf"}));
  auto const filed = file();
  ASSERT_TRUE(filed) << filed.error().message;
  EXPECT_EQ(filed->number, 7);
  EXPECT_EQ(filed->url, "https://github.com/o/r/issues/7");
  EXPECT_FALSE(filed->existed);
  EXPECT_THAT(filed->missing_labels, ElementsAre());
  EXPECT_THAT(
      asked(),
      ElementsAre("GET ", ask_who_it_is, search_by_label, search_by_creator, "POST /issues"));
  EXPECT_EQ(json::parse(transport.sent.back().body),
            (json{{"title", "slower"}, {"body", draft.body}, {"labels", {"perf"}}}));
}

TEST_F(GithubClient, SendsGithubsHeaders) {
  may_label();
  find_nothing();
  reply(201, issue(7, {}));
  ASSERT_TRUE(file());
  for (auto const& request : transport.sent) {
    EXPECT_EQ(request.headers.at("Accept"), "application/vnd.github+json");
    EXPECT_EQ(request.headers.at("Authorization"), "Bearer secret");
    EXPECT_EQ(request.headers.at("User-Agent"), "torchwatch/1");
    EXPECT_EQ(request.headers.at("X-GitHub-Api-Version"), "2022-11-28");
  }
}

TEST_F(GithubClient, FindsWhatWasFiledOnALaterPage) {
  may_label();
  auto pull = issue(3, {});
  pull["pull_request"] = json::object();
  auto const* const place = "https://api.github.com/repositories/1/issues?page=2";
  reply(200,
        json::array({pull, {{"number", 2}, {"body", nullptr}}, "nonsense"}),
        {{"link", "<" + std::string{place} + ">; rel=\"next\""}});
  reply(200, json::array({issue(1, {"perf"})}));
  auto const filed = file();
  ASSERT_TRUE(filed) << filed.error().message;
  EXPECT_EQ(filed->number, 1);
  EXPECT_TRUE(filed->existed);
  EXPECT_THAT(asked(),
              ElementsAre("GET ", ask_who_it_is, search_by_label, std::string{"GET "} + place));
}

TEST_F(GithubClient, SearchesByAuthorWhereLabelsDoNotStick) {
  reply(200, {{"permissions", {{"push", false}, {"triage", true}}}});
  reply(200, {{"login", "bot[x]"}});
  reply(200, json::array());
  reply(201, issue(7, {}));
  auto const filed = file();
  ASSERT_TRUE(filed) << filed.error().message;
  EXPECT_THAT(filed->missing_labels, ElementsAre("perf"));
  EXPECT_EQ(asked().at(2), "GET /issues?state=all&per_page=100&creator=bot%5Bx%5D");
}

TEST_F(GithubClient, SearchesEverythingWhenItMayNotAskWhoItIs) {
  reply(200);
  reply(403, {{"message", "Resource not accessible by integration"}});
  reply(200, json::array());
  reply(201, issue(7, {"perf"}));
  ASSERT_TRUE(file());
  EXPECT_EQ(asked().at(2), "GET /issues?state=all&per_page=100");
}

TEST_F(GithubClient, FilesNothingWhileItsUserIsUnknown) {
  reply(200);
  reply(403, {{"message", "Resource not accessible by personal access token"}});
  EXPECT_THAT(file().error().message, HasSubstr("not accessible"));
  EXPECT_THAT(asked(), testing::SizeIs(2)) << "the issue may exist already";
}

TEST_F(GithubClient, LooksAgainAfterALostCreate) {
  for (bool const by_status : {false, true}) {
    transport.sent.clear();
    may_label();
    find_nothing();
    if (by_status) {
      reply(502);
    } else {
      lose();
    }
    reply(200, json::array({issue(7, {"perf"})}));
    auto const filed = file();
    ASSERT_TRUE(filed) << filed.error().message;
    EXPECT_TRUE(filed->existed);
    EXPECT_THAT(asked(),
                ElementsAre("GET ",
                            ask_who_it_is,
                            search_by_label,
                            search_by_creator,
                            "POST /issues",
                            search_by_label));
  }
}

TEST_F(GithubClient, SearchesForTwoMinutesBeforeItCreatesAgain) {
  may_label();
  find_nothing();
  lose();
  find_nothing(8);
  reply(201, issue(8, {"perf"}));
  auto const filed = file();
  ASSERT_TRUE(filed) << filed.error().message;
  EXPECT_EQ(filed->number, 8);
  EXPECT_THAT(pauses,
              ElementsAre(seconds{1},
                          seconds{2},
                          seconds{4},
                          seconds{8},
                          seconds{16},
                          seconds{30},
                          seconds{30},
                          seconds{30},
                          seconds{1}));
  EXPECT_THAT(repetitions, ElementsAre("create issue: connection lost"));
  EXPECT_EQ(stored, (Times{start, start}));
}

TEST_F(GithubClient, FindsALostCreateByItsCreatorInAListThatLags) {
  may_label();
  find_nothing();
  lose();
  find_nothing(3);
  reply(200, json::array());
  reply(200, json::array({issue(7, {})}));
  auto const filed = file();
  ASSERT_TRUE(filed) << filed.error().message;
  EXPECT_EQ(filed->number, 7);
  EXPECT_THAT(filed->missing_labels, ElementsAre("perf"));
  EXPECT_THAT(pauses, ElementsAre(seconds{1}, seconds{2}, seconds{4}, seconds{8}));
  EXPECT_EQ(asked().back(), search_by_creator);
}

TEST_F(GithubClient, GoesOnSearchingForACreateThatWasSentBeforeACrash) {
  may_label();
  find_nothing(2);
  reply(200, json::array({issue(7, {"perf"})}));
  auto const filed = file(start - seconds{100});
  ASSERT_TRUE(filed) << filed.error().message;
  EXPECT_TRUE(filed->existed);
  EXPECT_THAT(pauses, ElementsAre(seconds{2}, seconds{4}));
  EXPECT_EQ(stored, Times{});
}

TEST_F(GithubClient, CreatesAgainTwoMinutesAfterACreateThatWasSentBeforeACrash) {
  may_label();
  find_nothing();
  reply(201, issue(8, {"perf"}));
  ASSERT_TRUE(file(start - seconds{120}));
  EXPECT_THAT(pauses, ElementsAre(seconds{1}));
}

TEST_F(GithubClient, SearchesForTwoMinutesWhenTheClockWasSetBack) {
  may_label();
  find_nothing(8);
  reply(201, issue(8, {"perf"}));
  ASSERT_TRUE(file(start + std::chrono::hours{1}));
  EXPECT_EQ(pauses.size(), 8U);
}

TEST_F(GithubClient, ForgetsACreateThatGithubRefused) {
  may_label();
  find_nothing();
  reply(422, {{"message", "Validation Failed"}});
  EXPECT_FALSE(file());
  EXPECT_EQ(stored, (Times{start, std::nullopt}));
}

TEST_F(GithubClient, KeepsACreateWhoseAnswerWasCutOffByTheEndOfTheService) {
  may_label();
  find_nothing();
  transport.replies.emplace_back(Error{ErrorCode::cancelled, "stopping"});
  EXPECT_FALSE(file());
  EXPECT_EQ(stored, (Times{start}));
}

TEST_F(GithubClient, TakesNoIssueOfAnotherAuthorForItsOwn) {
  may_label();
  reply(200, json::array({forged_issue(6)}));
  reply(200, json::array());
  reply(201, issue(7, {"perf"}));
  auto const filed = file();
  ASSERT_TRUE(filed) << filed.error().message;
  EXPECT_EQ(filed->number, 7);
  EXPECT_FALSE(filed->existed);
}

TEST_F(GithubClient, TakesNoIssueOfAUserForAnApps) {
  reply(200, {{"permissions", {{"push", true}}}});
  reply(403, {{"message", "Resource not accessible by integration"}});
  auto filed_by_app = issue(7, {"perf"});
  filed_by_app["user"] = {{"login", "watch[bot]"}, {"type", "Bot"}};
  reply(200, json::array({forged_issue(6), filed_by_app}));
  auto const filed = file();
  ASSERT_TRUE(filed) << filed.error().message;
  EXPECT_EQ(filed->number, 7);
  EXPECT_EQ(asked().back(), search_by_label);
}

TEST_F(GithubClient, TreatsAnUnreadableSuccessAsLost) {
  may_label();
  find_nothing();
  reply(201, "no object");
  reply(200, json::array({issue(7, {"perf"})}));
  auto const filed = file();
  ASSERT_TRUE(filed) << filed.error().message;
  EXPECT_EQ(filed->number, 7);
}

TEST_F(GithubClient, KnowsAReportByTheKeyThatItBeginsWith) {
  may_label();
  auto quoting = issue(6, {"perf"});
  quoting["body"] = marker_of("4567") + "\n" + draft.body;
  reply(200, json::array({quoting, issue(7, {"perf"})}));
  auto const filed = file();
  ASSERT_TRUE(filed) << filed.error().message;
  EXPECT_EQ(filed->number, 7);
}

TEST_F(GithubClient, TakesNoOddNumberForAnIssues) {
  may_label();
  find_nothing();
  reply(201, {{"number", std::numeric_limits<std::uint64_t>::max()}});
  reply(200, json::array({issue(7, {"perf"})}));
  auto const filed = file();
  ASSERT_TRUE(filed) << filed.error().message;
  EXPECT_EQ(filed->number, 7);
}

TEST_F(GithubClient, GivesUpWhenEveryCreateIsLost) {
  may_label();
  options.retries = 2;
  find_nothing();
  for (int i = 0; i < 2; ++i) {
    lose();
    find_nothing(8);
  }
  lose();
  auto const filed = file();
  ASSERT_FALSE(filed);
  EXPECT_EQ(filed.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(transport.replies.empty());
  EXPECT_EQ(stored, (Times{start, start, start})) << "the next pass goes on searching";
}

TEST_F(GithubClient, RepeatsLostQuestions) {
  lose();
  reply(503);
  may_label();
  reply(200, json::array({issue(7, {"perf"})}));
  ASSERT_TRUE(file());
  EXPECT_THAT(pauses, ElementsAre(seconds{2}, seconds{4}));
  EXPECT_THAT(repetitions,
              ElementsAre("connection lost", HasSubstr("GET https://api.github.com/")));
}

TEST_F(GithubClient, ReportsARefusalWithGithubsReason) {
  may_label();
  find_nothing();
  reply(422, {{"message", "Validation Failed"}, {"errors", {{{"message", "body is too long"}}}}});
  auto const filed = file();
  ASSERT_FALSE(filed);
  EXPECT_EQ(filed.error().code, ErrorCode::refused);
  EXPECT_EQ(filed.error().message,
            "create issue: POST https://api.github.com/repos/o/r/issues: HTTP 422: Validation "
            "Failed: body is too long");
  EXPECT_EQ(transport.sent.size(), 5U);
}

TEST_F(GithubClient, RefusalsAreNotRepeated) {
  for (int const status : {400, 401, 403, 404, 410}) {
    transport.sent.clear();
    reply(status, {{"message", "no"}});
    auto const filed = file();
    ASSERT_FALSE(filed);
    auto const missing = status == 404 || status == 410;
    EXPECT_EQ(filed.error().code, missing ? ErrorCode::not_found : ErrorCode::refused) << status;
    EXPECT_EQ(transport.sent.size(), 1U);
  }
}

TEST_F(GithubClient, WaitsForLimitsAndThenCreatesOnce) {
  may_label();
  find_nothing();
  reply(403, json::object(), {{"retry-after", "30"}});
  reply(403, json::object(), {{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "1800000099"}});
  reply(403, {{"message", "You have exceeded a secondary rate limit. Please wait"}});
  reply(201, issue(7, {"perf"}));
  auto const filed = file();
  ASSERT_TRUE(filed) << filed.error().message;
  EXPECT_THAT(pauses, ElementsAre(seconds{1}, seconds{30}, seconds{100}, seconds{240}));
  EXPECT_EQ(transport.sent.size(), 8U);
  EXPECT_THAT(limits, ElementsAre());
}

TEST_F(GithubClient, KeepsALongPauseAndSendsNoOtherCreate) {
  options.patience = seconds{60};
  may_label();
  find_nothing();
  reply(403, json::object(), {{"retry-after", "90"}});
  auto const filed = file();
  ASSERT_FALSE(filed);
  EXPECT_EQ(filed.error().code, ErrorCode::unavailable);
  EXPECT_EQ(transport.sent.size(), 5U);
  EXPECT_THAT(limits, ElementsAre(start + seconds{90}));
  EXPECT_EQ(stored, (Times{start, std::nullopt})) << "GitHub created nothing";
}

TEST_F(GithubClient, SendsNothingDuringAPause) {
  options.not_before = start + seconds{90};
  auto const filed = file();
  ASSERT_FALSE(filed);
  EXPECT_EQ(filed.error().code, ErrorCode::unavailable);
  EXPECT_THAT(filed.error().message,
              HasSubstr("not sent: GitHub asked for no request before 2027-01-15T08:01:30Z"));
  EXPECT_EQ(transport.sent.size(), 0U);
  EXPECT_THAT(limits, ElementsAre());
}

TEST_F(GithubClient, KeepsNoPauseForLongerThanADay) {
  reply(429, json::object(), {{"retry-after", "999999999"}});
  EXPECT_FALSE(file());
  EXPECT_THAT(limits, ElementsAre(start + std::chrono::hours{24}));
}

TEST_F(GithubClient, MasksTheTokenInErrorsAndRepetitions) {
  std::string const token = "ghp_0123456789abcdef";
  options.tokens = std::make_shared<FixedToken>(token);
  options.retries = 1;
  transport.replies.emplace_back(Error{ErrorCode::unavailable, "sent " + token});
  reply(401, {{"message", "bad token " + token}});
  auto const filed = file();
  ASSERT_FALSE(filed);
  EXPECT_THAT(filed.error().message, HasSubstr("HTTP 401: bad token [token]"));
  EXPECT_THAT(repetitions, ElementsAre("sent [token]"));

  reply(301, json::object(), {{"location", "https://evil.example/" + token}});
  EXPECT_THAT(file().error().message, HasSubstr("redirected to \"https://evil.example/[token]\""));
  may_label();
  auto const next = "<https://evil.example/" + token + ">; rel=\"next\"";
  reply(200, json::array(), {{"link", next}});
  EXPECT_THAT(file().error().message, HasSubstr("another host: https://evil.example/[token]"));
  auto elsewhere = filed_issue();
  elsewhere["comments_url"] = "https://evil.example/" + token;
  reply(200, elsewhere);
  EXPECT_THAT(add_comment().error().message, HasSubstr("\"https://evil.example/[token]\""));
}

TEST_F(GithubClient, DoesNotWaitForever) {
  reply(429, json::object(), {{"retry-after", "86400"}});
  auto const filed = file();
  ASSERT_FALSE(filed);
  EXPECT_EQ(filed.error().code, ErrorCode::unavailable);
  EXPECT_THAT(pauses, ElementsAre());
  for (int i = 0; i < 6; ++i)
    reply(429, json::object(), {{"retry-after", "1"}});
  EXPECT_FALSE(file());
  EXPECT_EQ(pauses.size(), 5U);
}

TEST_F(GithubClient, KeepsMethodAndBodyThroughRedirects) {
  may_label();
  find_nothing();
  reply(307, json::object(), {{"location", "https://api.github.com/repositories/1/issues"}});
  reply(301, json::object(), {{"location", "/repositories/2/issues"}});
  reply(201, issue(7, {"perf"}));
  auto const filed = file();
  ASSERT_TRUE(filed) << filed.error().message;
  ASSERT_EQ(transport.sent.size(), 7U);
  EXPECT_EQ(transport.sent[6].method, "POST");
  EXPECT_EQ(transport.sent[6].url, "https://api.github.com/repositories/2/issues");
  EXPECT_EQ(transport.sent[6].body, transport.sent[4].body);
}

TEST_F(GithubClient, NeverTakesTheTokenToAnotherHost) {
  for (auto const* const place : {"https://evil.example/repos/o/r",
                                  "http://api.github.com/x",
                                  "//evil.example/x",
                                  "https://me@api.github.com/x",
                                  "https://api.github.com\\@evil.example/x",
                                  ""}) {
    transport.sent.clear();
    reply(301, json::object(), {{"location", place}});
    auto const filed = file();
    ASSERT_FALSE(filed);
    EXPECT_EQ(filed.error().code, ErrorCode::refused) << place;
    EXPECT_EQ(transport.sent.size(), 1U);
  }
  transport.sent.clear();
  may_label();
  reply(200, json::array(), {{"link", "<https://evil.example/x>; rel=\"next\""}});
  auto const filed = file();
  ASSERT_FALSE(filed);
  EXPECT_THAT(filed.error().message, HasSubstr("another host"));
  EXPECT_EQ(transport.sent.size(), 3U);
}

TEST_F(GithubClient, StopsFollowingRedirectsInACircle) {
  for (int i = 0; i < 6; ++i)
    reply(301, json::object(), {{"location", base}});
  auto const filed = file();
  ASSERT_FALSE(filed);
  EXPECT_EQ(filed.error().code, ErrorCode::refused);
  EXPECT_EQ(transport.sent.size(), 6U);
}

TEST_F(GithubClient, CancellationIsPassedOn) {
  transport.replies.emplace_back(Error{ErrorCode::cancelled, "stopping"});
  auto const filed = file();
  ASSERT_FALSE(filed);
  EXPECT_EQ(filed.error().code, ErrorCode::cancelled);
}

TEST_F(GithubClient, RepairsTextThatIsNotUtf8) {
  may_label();
  find_nothing();
  reply(201, issue(7, {"perf"}));
  draft.title = "bad \xFF byte";
  ASSERT_TRUE(file());
  EXPECT_EQ(json::parse(transport.sent.back().body)["title"], "bad \xEF\xBF\xBD byte");
}

TEST_F(GithubClient, TellsWhatTheTokenMayDoWithoutWriting) {
  reply(200,
        {{"full_name", "O/r"}, {"has_issues", true}, {"permissions", {{"push", true}}}},
        {{"x-oauth-scopes", "read:org, public_repo"}});

  auto const access = look();

  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->repository, "O/r");
  EXPECT_TRUE(access->has_issues);
  EXPECT_TRUE(access->may_label);
  EXPECT_FALSE(access->is_archived);
  EXPECT_EQ(obstacle_to_issues(*access), "");
  EXPECT_THAT(asked(), ElementsAre("GET "));
}

TEST_F(GithubClient, MayNotLabelWithTheRightToTriageAlone) {
  reply(200, {{"full_name", "o/r"}, {"permissions", {{"push", false}, {"triage", true}}}});
  EXPECT_FALSE(look().value().may_label);
}

TEST_F(GithubClient, HasNoAccessWithABadToken) {
  reply(401, {{"message", "Bad credentials"}});

  auto const access = look();

  ASSERT_FALSE(access);
  EXPECT_EQ(access.error().code, ErrorCode::refused);
  EXPECT_THAT(access.error().message, HasSubstr("Bad credentials"));
}

TEST(ObstacleToIssues, IsWhatGithubTells) {
  Access access;
  access.repository = "o/r";
  EXPECT_EQ(obstacle_to_issues(access), "");
  access.scopes = "read:org, repo:status";
  EXPECT_THAT(obstacle_to_issues(access), HasSubstr("\"read:org, repo:status\""));
  access.scopes = "repo";
  EXPECT_EQ(obstacle_to_issues(access), "");
  access.has_issues = false;
  EXPECT_EQ(obstacle_to_issues(access), "o/r has issues switched off");
  access.is_archived = true;
  EXPECT_THAT(obstacle_to_issues(access), HasSubstr("archived"));
}

}  // namespace
}  // namespace torchwatch::github
