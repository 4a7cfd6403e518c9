#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/api/http_client.h"
#include "tests/api/live_api.h"
#include "tests/api/refusal.h"

namespace torchwatch::tests {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::Pair;

std::string steer(std::string const& id,
                  std::string const& body,
                  std::string const& token = "correct-horse",
                  std::string const& type = "application/json") {
  return with_headers("POST /api/v1/bisections/" + id,
                      "Authorization: Bearer " + token + "\r\nContent-Type: " + type +
                          "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n") +
         body;
}

std::string steer_to(std::string const& state) {
  return steer("2", json{{"state", state}}.dump());
}

TEST(Steering, PausesResumesAndCancels) {
  LiveApi api;
  Bisection paused;
  paused.id = BisectionId{2};
  paused.state = BisectionState::paused;
  api.reply_with(paused);

  auto const answer = ask(api.port(), steer_to("paused"));
  ask(api.port(), steer_to("queued"));
  ask(api.port(), steer_to("cancelled"));

  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.body,
            R"({"id":2,"state":"paused","url":"/api/v1/bisections/2"})"
            "\n");
  EXPECT_EQ(answer.headers.at("content-type"), "application/json");
  EXPECT_EQ(answer.headers.at("cache-control"), "no-store");
  BisectionId const two{2};
  EXPECT_THAT(api.steered(),
              ElementsAre(Pair(two, BisectionState::paused),
                          Pair(two, BisectionState::queued),
                          Pair(two, BisectionState::cancelled)));
}

TEST(Steering, FailureHasStatusOfItsKind) {
  LiveApi api;
  std::pair<ErrorCode, int> const statuses[] = {{ErrorCode::not_found, 404},
                                                {ErrorCode::refused, 409},
                                                {ErrorCode::invalid_argument, 400},
                                                {ErrorCode::unavailable, 503},
                                                {ErrorCode::cancelled, 503},
                                                {ErrorCode::corrupt, 500},
                                                {ErrorCode::internal, 500}};
  for (auto const& [code, status] : statuses) {
    api.reply_with(Error{code, "bisection 2 is done"});
    auto const answer = ask(api.port(), steer_to("paused"));
    EXPECT_EQ(answer.status, status);
    EXPECT_EQ(answer.headers.at("content-type"), "application/problem+json");
    EXPECT_EQ(json::parse(answer.body).at("detail"), "bisection 2 is done");
  }
}

TEST(Steering, RefusalsNameWhatIsWrong) {
  auto const pause = json{{"state", "paused"}}.dump();
  constexpr auto allowed = R"("paused", "queued", "cancelled")";
  expect_refused({
      {"NoToken", with_headers("POST /api/v1/bisections/2", "Content-Length: 0\r\n"), 401},
      {"WrongToken", steer("2", pause, "wrong"), 401, "", "wrong token"},
      {"NoJson", steer("2", pause, "correct-horse", "text/plain"), 415, "", "application/json"},
      {"IdThatIsNoNumber", steer("two", pause), 404, "", "two"},
      {"IdBeyondAllNumbers", steer("99999999999999999999", pause), 404},
      {"Parameter", steer("2?force=1", pause), 400, "force", "none"},
      {"EmptyBody", steer("2", ""), 400, "body", "invalid JSON"},
      {"ArrayBody", steer("2", "[]"), 400, "body", "an array of 0"},
      {"NoState", steer("2", "{}"), 400, "state", "found nothing, allowed \"paused\""},
      {"UnknownState", steer_to("asleep"), 400, "state", "found \"asleep\""},
      {"StateThatNobodyGives", steer_to("done"), 400, "state", allowed},
      {"RunningForQueued", steer_to("running"), 400, "state", allowed},
      {"StateThatIsNoWord", steer("2", R"({"state": 1})"), 400, "state", "found 1"},
      {"StateTwice",
       steer("2", R"({"state": "paused", "state": "queued"})"),
       400,
       "state",
       "twice"},
      {"UnknownField",
       steer("2", R"({"state": "paused", "why": "x"})"),
       400,
       "why",
       "only the fields state"},
  });
}

TEST(Steering, IsRefusedWithoutConfiguredToken) {
  LiveApi api{[] {
    auto options = LiveApi::options_with_token();
    options.access.token.clear();
    return options;
  }()};

  EXPECT_EQ(ask(api.port(), steer_to("paused")).status, 403);
  EXPECT_TRUE(api.steered().empty());
}

}  // namespace
}  // namespace torchwatch::tests
