#include "github/answer.h"

#include <gtest/gtest.h>

namespace torchwatch::github {
namespace {

using std::chrono::seconds;

constexpr Timestamp now{seconds{1'800'000'000}};

Response answer(int status, std::map<std::string, std::string> headers, std::string body = "{}") {
  return {status, std::move(headers), std::move(body)};
}

TEST(GithubAnswer, TellsLimitsFromRefusals) {
  EXPECT_EQ(kind_of(answer(403, {})), AnswerKind::refused);
  EXPECT_EQ(kind_of(answer(403, {{"x-ratelimit-remaining", "17"}})), AnswerKind::refused);
  EXPECT_EQ(kind_of(answer(403, {{"x-ratelimit-remaining", "0"}})), AnswerKind::rate_limited);
  EXPECT_EQ(kind_of(answer(403, {{"retry-after", "5"}})), AnswerKind::rate_limited);
  EXPECT_EQ(kind_of(answer(429, {})), AnswerKind::rate_limited);
  EXPECT_EQ(kind_of(answer(403, {}, R"({"message":"You have exceeded a secondary rate limit."})")),
            AnswerKind::rate_limited);
}

TEST(GithubAnswer, TellsLostFromRefused) {
  for (int const status : {408, 500, 502, 503, 504})
    EXPECT_EQ(kind_of(answer(status, {})), AnswerKind::lost) << status;
  for (int const status : {302, 400, 401, 404, 410, 415, 422})
    EXPECT_EQ(kind_of(answer(status, {})), AnswerKind::refused) << status;
  for (int const status : {301, 307, 308})
    EXPECT_EQ(kind_of(answer(status, {})), AnswerKind::redirect) << status;
  EXPECT_EQ(kind_of(answer(201, {})), AnswerKind::success);
  EXPECT_EQ(kind_of(answer(304, {})), AnswerKind::success);
}

TEST(GithubAnswer, PauseFollowsRetryAfterThenResetThenGrows) {
  std::map<std::string, std::string> headers{{"x-ratelimit-remaining", "0"},
                                             {"x-ratelimit-reset", "1800000042"}};
  EXPECT_EQ(pause_asked_by(answer(403, headers), now, 0), seconds{43});
  headers["retry-after"] = "7";
  EXPECT_EQ(pause_asked_by(answer(403, headers), now, 0), seconds{7});
  EXPECT_EQ(pause_asked_by(answer(403, {}), now, 0), seconds{60});
  EXPECT_EQ(pause_asked_by(answer(403, {}), now, 2), seconds{240});
}

TEST(GithubAnswer, PauseSurvivesNonsense) {
  std::map<std::string, std::string> const past{{"x-ratelimit-remaining", "0"},
                                                {"x-ratelimit-reset", "12"}};
  EXPECT_EQ(pause_asked_by(answer(403, past), now, 0), seconds{1});
  EXPECT_EQ(pause_asked_by(answer(403, {{"retry-after", "-3"}}), now, 0), seconds{60});
  EXPECT_EQ(pause_asked_by(answer(403, {{"retry-after", "99999999999999999"}}), now, 0),
            seconds{60});
}

TEST(GithubAnswer, FindsTheNextPage) {
  EXPECT_EQ(next_page(answer(200,
                             {{"link",
                               "<https://h/repositories/1/issues?page=1>; rel=\"prev\", "
                               "<https://h/repositories/1/issues?labels=a,b&page=3>; "
                               "rel=\"next\", <https://h/x?page=9>; rel=\"last\""}})),
            "https://h/repositories/1/issues?labels=a,b&page=3");
  EXPECT_EQ(next_page(answer(200, {{"link", "<https://h/x?page=1>; rel=\"first\""}})), "");
  EXPECT_EQ(next_page(answer(200, {{"link", "<broken; rel=\"next\""}})), "");
  EXPECT_EQ(next_page(answer(200, {})), "");
}

TEST(GithubAnswer, ExplainsItselfOnOneLine) {
  EXPECT_EQ(
      explanation_of(answer(422, {}, R"({"message":"Invalid request.\n\n\"title\" wasn't supplied.",
      "errors":[{"field":"body","code":"custom","message":"body is too long"},
                {"field":"title","code":"missing_field"},"plain"]})")),
      "HTTP 422: Invalid request. \"title\" wasn't supplied.: body is too long: "
      "title missing_field: plain");
  EXPECT_EQ(explanation_of(answer(502, {}, "<html>")), "HTTP 502");
  EXPECT_LE(
      explanation_of(answer(400, {}, R"({"message":")" + std::string(5000, 'x') + "\"}")).size(),
      500U);
}

TEST(GithubAnswer, NamesTheAddressAtWhichAnOrganizationAuthorizesTheToken) {
  auto const* const message =
      R"({"message":"Resource protected by organization SAML enforcement."})";
  auto const* const address = "https://github.com/orgs/o/sso?authorization_request=A1-b_2";
  EXPECT_EQ(explanation_of(
                answer(403, {{"x-github-sso", std::string{"required; url="} + address}}, message)),
            std::string{"HTTP 403: Resource protected by organization SAML enforcement.: authorize "
                        "the token at "} +
                address);
  EXPECT_EQ(explanation_of(answer(
                403, {{"x-github-sso", "partial-results; organizations=21955855"}}, message)),
            "HTTP 403: Resource protected by organization SAML enforcement.");
}

TEST(GithubAnswer, MasksTheToken) {
  std::string const token = "ghp_0123456789abcdef";
  auto const repeated = R"({"message":"ghp_0123456789abcdef is bad: \u0067hp_0123456789abcdef"})";
  EXPECT_EQ(explanation_of(answer(400, {}, repeated), token), "HTTP 400: [token] is bad: [token]");
  auto const at_the_cut = R"({"message":")" + std::string(480, 'x') + token + "\"}";
  EXPECT_EQ(explanation_of(answer(400, {}, at_the_cut), token).find("ghp_"), std::string::npos);
}

TEST(GithubAnswer, MasksNothingWithoutAToken) {
  EXPECT_EQ(masked("as it is", ""), "as it is");
  EXPECT_EQ(masked("tot", "t"), "[token]o[token]");
}

}  // namespace
}  // namespace torchwatch::github
