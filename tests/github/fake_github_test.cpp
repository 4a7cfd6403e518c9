#include <fstream>

#include <gmock/gmock.h>

#include "github/answer.h"
#include "tests/github/github_fixture.h"

/// The fake is only worth as much as it resembles GitHub.
namespace torchwatch::github {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr auto issues_path = "/repos/pytorch/pytorch/issues";

class FakeGithub : public WithFakeGithub {
 protected:
  json create(json const& body) {
    auto const answer = ask("POST", issues_path, body.dump());
    EXPECT_EQ(answer->status, 201) << answer->body;
    return json::parse(answer->body);
  }

  json listed(std::string const& query) {
    auto numbers = json::array();
    auto const list = json::parse(ask("GET", issues_path + query)->body);
    for (auto const& issue : list)
      numbers.push_back(issue["number"]);
    return numbers;
  }

  std::string refusal(std::string const& body) {
    auto const answer = ask("POST", issues_path, body);
    return std::to_string(answer->status) + " " + explanation_of(*answer);
  }
};

TEST_F(FakeGithub, KeepsStrangersOut) {
  change({{"settings", {{"token", "t"}}}});
  EXPECT_EQ(ask("GET", issues_path)->status, 200);
  EXPECT_EQ(ask("GET", issues_path, "", {{"Authorization", "Bearer x"}})->status, 401);
  EXPECT_EQ(ask("GET", issues_path, "", {{"Authorization", ""}})->status, 200);
  EXPECT_EQ(ask("POST", issues_path, R"({"title":"x"})", {{"Authorization", ""}})->status, 401);
  EXPECT_EQ(ask("GET", issues_path, "", {{"User-Agent", ""}})->status, 403);
  EXPECT_EQ(ask("GET", issues_path, "", {{"Accept", "text/html"}})->status, 415);
  EXPECT_EQ(ask("GET", issues_path, "", {{"X-GitHub-Api-Version", "1999-01-01"}})->status, 400);
}

TEST_F(FakeGithub, KnowsOnlyItsRepository) {
  EXPECT_EQ(ask("GET", "/repos/other/repo/issues")->status, 404);
  EXPECT_EQ(ask("GET", std::string{issues_path} + "/")->status, 404);
  EXPECT_EQ(ask("GET", std::string{issues_path} + "/1")->status, 404);
  EXPECT_EQ(ask("GET", "/repositories/65600975/issues")->status, 200);
}

TEST_F(FakeGithub, ValidatesIssues) {
  EXPECT_THAT(refusal("{"), HasSubstr("400 HTTP 400: Problems parsing JSON"));
  EXPECT_THAT(refusal("[]"), HasSubstr("400 HTTP 400: Body should be a JSON object"));
  EXPECT_THAT(refusal(R"({"body":"x"})"), HasSubstr("422: Validation Failed: title missing_field"));
  EXPECT_THAT(refusal(R"({"title":[1]})"), HasSubstr("title invalid"));
  EXPECT_THAT(refusal(R"({"title":"x","labels":[1]})"), HasSubstr("422"));
  auto const long_body = json{{"title", "x"}, {"body", std::string(65537, 'x')}}.dump();
  EXPECT_THAT(refusal(long_body), HasSubstr("body is too long (maximum is 65536 characters)"));
  EXPECT_THAT(refusal(json{{"title", std::string(257, 'x')}}.dump()),
              HasSubstr("title is too long"));
  std::string euros;
  for (int i = 0; i < 65536; ++i)
    euros += "\xE2\x82\xAC";
  create({{"title", "x"}, {"body", euros}});
  EXPECT_EQ(github_.state()["issues"].size(), 1U);
}

TEST_F(FakeGithub, FiltersLists) {
  create({{"title", "one"}, {"labels", {"a", "b"}}});
  create({{"title", "two"}, {"labels", {"a"}}});
  change({{"issues", {{{"user", {{"login", "jane"}}}, {"updated_at", "2020-01-01T00:00:00Z"}}}}});
  ASSERT_EQ(ask("PATCH", std::string{issues_path} + "/2", R"({"state":"closed"})")->status, 200);
  EXPECT_EQ(listed(""), json({3, 1}));
  EXPECT_EQ(listed("?state=all&direction=asc"), json({1, 2, 3}));
  EXPECT_EQ(listed("?state=closed"), json({2}));
  EXPECT_EQ(listed("?state=all&labels=A"), json({2, 1}));
  EXPECT_EQ(listed("?state=all&labels=a,b"), json({1}));
  EXPECT_EQ(listed("?state=all&creator=Jane"), json({3}));
  EXPECT_EQ(listed("?state=all&since=2021-01-01T00%3A00%3A00Z"), json({2, 1}));
}

TEST_F(FakeGithub, Pages) {
  for (int i = 0; i < 3; ++i)
    create({{"title", "x"}});
  auto const first = ask("GET", std::string{issues_path} + "?per_page=2&state=all");
  EXPECT_EQ(json::parse(first->body).size(), 2U);
  auto const place = server_->url() + "/repositories/65600975/issues?page=2&per_page=2&state=all";
  EXPECT_EQ(first->headers.at("link"),
            "<" + place + ">; rel=\"next\", <" + place + ">; rel=\"last\"");
  auto const second = ask("GET", place.substr(server_->url().size()));
  EXPECT_EQ(json::parse(second->body).size(), 1U);
  EXPECT_THAT(second->headers.at("link"), HasSubstr("rel=\"prev\""));
  EXPECT_EQ(next_page(*second), "");
  EXPECT_EQ(listed("?page=99"), json::array());
}

TEST_F(FakeGithub, TakesCommentsAndLabels) {
  create({{"title", "x"}, {"labels", {"a"}}});
  auto const issue = std::string{issues_path} + "/1";
  EXPECT_EQ(ask("POST", issue + "/comments", R"({"body":"hello"})")->status, 201);
  EXPECT_EQ(json::parse(ask("GET", issue + "/comments")->body)[0]["body"], "hello");
  EXPECT_EQ(json::parse(ask("GET", issue)->body)["comments"], 1);
  EXPECT_EQ(ask("POST", issue + "/comments", "{}")->status, 422);
  EXPECT_EQ(json::parse(ask("POST", issue + "/labels", R"({"labels":["b","A"]})")->body).size(),
            2U);
  auto const labels = std::string{"/repos/pytorch/pytorch/labels"};
  EXPECT_EQ(ask("POST", labels, R"({"name":"c"})")->status, 201);
  EXPECT_EQ(ask("POST", labels, R"({"name":"C"})")->status, 422);
  EXPECT_EQ(json::parse(ask("GET", labels)->body).size(), 3U);
}

TEST_F(FakeGithub, WithoutPushAccessDropsLabelsAndRefusesChangesOfOthersIssues) {
  change({{"settings", {{"push", false}}}});
  EXPECT_EQ(create({{"title", "x"}, {"labels", {"a"}}})["labels"], json::array());
  json const others{{"user", {{"login", "ada"}}}};
  change({{"issues", json::array({others})}});
  auto const own = std::string{issues_path} + "/1";
  EXPECT_EQ(ask("PATCH", own, R"({"labels":["a"]})")->status, 403);
  EXPECT_EQ(ask("PATCH", own, R"({"state":"closed"})")->status, 200);
  EXPECT_EQ(ask("PATCH", std::string{issues_path} + "/2", R"({"state":"closed"})")->status, 403);
}

TEST_F(FakeGithub, NamesAReasonForEachState) {
  create({{"title", "x"}});
  auto const issue = std::string{issues_path} + "/1";
  auto const reason = [&](std::string const& body) {
    return json::parse(ask("PATCH", issue, body)->body)["state_reason"];
  };
  EXPECT_EQ(reason(R"({"body":"y"})"), nullptr);
  EXPECT_EQ(reason(R"({"state":"closed"})"), "completed");
  EXPECT_EQ(reason(R"({"state":"open"})"), "reopened");
  EXPECT_EQ(reason(R"({"state":"closed","state_reason":"not_planned"})"), "not_planned");
  EXPECT_EQ(ask("PATCH", issue, R"({"state":"done"})")->status, 422);
  EXPECT_EQ(ask("PATCH", issue, R"({"state":"open","state_reason":"fixed"})")->status, 422);
}

TEST_F(FakeGithub, NamesTheUserWhoClosedAnIssue) {
  create({{"title", "x"}});
  auto const issue = std::string{issues_path} + "/1";
  auto const closer = [&](std::string const& body) {
    return json::parse(ask("PATCH", issue, body)->body)["closed_by"];
  };
  EXPECT_EQ(closer(R"({"body":"y"})"), nullptr);
  auto const user = json::parse(ask("GET", issue)->body)["user"];
  EXPECT_EQ(closer(R"({"state":"closed"})"), user);
  EXPECT_EQ(closer(R"({"state":"open"})"), nullptr);
}

TEST_F(FakeGithub, LetsUsersEditAndCloseIssues) {
  create({{"title", "x"}, {"body", "ours"}});
  change({{"changed", {{"1", {{"body", "theirs"}, {"state", "closed"}}}}}});
  auto const issue = json::parse(ask("GET", std::string{issues_path} + "/1")->body);
  EXPECT_EQ(issue["body"], "theirs");
  EXPECT_EQ(issue["state"], "closed");
}

TEST_F(FakeGithub, SendsNothingAgainThatTheClientKnows) {
  create({{"title", "x"}});
  auto const issue = std::string{issues_path} + "/1";
  auto const tag = ask("GET", issue)->headers.at("etag");
  auto const used = github_.state()["limits"]["used"];
  auto const again = ask("GET", issue, {}, {{"If-None-Match", tag}});
  EXPECT_EQ(again->status, 304);
  EXPECT_EQ(again->body, "");
  EXPECT_EQ(github_.state()["limits"]["used"], used) << "no limit counts it";
  change({{"changed", {{"1", {{"body", "new"}}}}}});
  EXPECT_EQ(ask("GET", issue, {}, {{"If-None-Match", tag}})->status, 200);
}

TEST_F(FakeGithub, WithTriageAccessAloneDropsLabelsOfNewIssuesAndTakesThemLater) {
  change({{"settings", {{"push", false}, {"triage", true}}}});
  EXPECT_EQ(create({{"title", "x"}, {"labels", {"a"}}})["labels"], json::array());
  auto const issue = std::string{issues_path} + "/1";
  EXPECT_EQ(ask("POST", issue + "/labels", R"({"labels":["a"]})")->status, 200);
  EXPECT_EQ(ask("PATCH", issue, R"({"state":"closed"})")->status, 200);
  auto const permissions = json::parse(ask("GET", "/repos/pytorch/pytorch")->body)["permissions"];
  EXPECT_EQ(permissions, (json{{"push", false}, {"triage", true}, {"pull", true}}));
}

TEST_F(FakeGithub, ListsANewIssueOnlyAfterItsLag) {
  change({{"settings", {{"lag_s", 3600}}}});
  create({{"title", "x"}});
  EXPECT_EQ(listed("?state=all"), json::array());
  EXPECT_EQ(ask("GET", std::string{issues_path} + "/1")->status, 200) << "lists lag, not issues";
  change({{"settings", {{"lag_s", 0}}}});
  EXPECT_EQ(listed("?state=all"), json({1}));
}

TEST_F(FakeGithub, NamesTheAddressAtWhichAnOrganizationAuthorizesTheToken) {
  change({{"settings", {{"sso", "https://github.com/orgs/o/sso?authorization_request=A"}}}});
  auto const refused = ask("GET", issues_path);
  EXPECT_EQ(refused->status, 403);
  EXPECT_EQ(refused->headers.at("x-github-sso"),
            "required; url=https://github.com/orgs/o/sso?authorization_request=A");
  EXPECT_EQ(ask("GET", "/user")->status, 200);
}

TEST_F(FakeGithub, DoesNotNameAnAppToItsOwnToken) {
  change({{"settings", {{"login", "watch[bot]"}}}});
  EXPECT_EQ(ask("GET", "/user")->status, 403);
  EXPECT_EQ(create({{"title", "x"}})["user"], (json{{"login", "watch[bot]"}, {"type", "Bot"}}));
}

TEST_F(FakeGithub, RedirectsFromTheOldName) {
  change({{"settings", {{"repository", "pytorch/torch"}, {"renamed_from", "pytorch/pytorch"}}}});
  auto const place = server_->url() + "/repositories/65600975/issues";
  auto const get = ask("GET", std::string{issues_path} + "?state=all");
  EXPECT_EQ(get->status, 301);
  EXPECT_EQ(get->headers.at("location"), place + "?state=all");
  auto const post = ask("POST", issues_path, R"({"title":"x"})");
  EXPECT_EQ(post->status, 307);
  EXPECT_EQ(json::parse(post->body)["url"], place);
  EXPECT_TRUE(github_.state()["issues"].empty());
}

TEST_F(FakeGithub, CountsRequestsAgainstItsLimits) {
  change({{"settings", {{"hourly_limit", 3}, {"writes_per_minute", 1}}}});
  EXPECT_EQ(ask("POST", issues_path, R"({"title":"x"})")->headers.at("x-ratelimit-remaining"), "2");
  auto const second = ask("POST", issues_path, R"({"title":"x"})");
  EXPECT_EQ(kind_of(*second), AnswerKind::rate_limited);
  EXPECT_THAT(second->body, HasSubstr("secondary rate limit"));
  EXPECT_EQ(ask("GET", issues_path)->status, 200);
  auto const fourth = ask("GET", issues_path);
  EXPECT_EQ(fourth->status, 403);
  EXPECT_EQ(fourth->headers.at("x-ratelimit-remaining"), "0");
}

TEST_F(FakeGithub, IsControlledOverTheWire) {
  ASSERT_EQ(
      ask("POST", "/_control", R"({"faults":[{"method":"GET","status":500,"times":2}]})")->status,
      200);
  EXPECT_EQ(ask("GET", issues_path)->status, 500);
  EXPECT_EQ(ask("GET", issues_path)->status, 500);
  EXPECT_EQ(ask("GET", issues_path)->status, 200);
  EXPECT_EQ(json::parse(ask("GET", "/_control")->body)["requests"].size(), 3U);
  EXPECT_EQ(ask("POST", "/_control", "[]")->status, 400);
}

TEST_F(FakeGithub, RemembersWhatItWasTold) {
  create({{"title", "kept"}});
  std::ifstream file{folder_ / "state.json"};
  auto const stored = json::parse(file);
  EXPECT_EQ(stored["issues"][0]["title"], "kept");
  EXPECT_EQ(stored["requests"][0]["status"], 201);
  fakes::FakeGithub const restarted{folder_ / "state.json"};
  EXPECT_EQ(restarted.state()["issues"], stored["issues"]);
}

}  // namespace
}  // namespace torchwatch::github
