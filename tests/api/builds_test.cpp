#include <filesystem>
#include <fstream>
#include <string>

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
using ::testing::HasSubstr;

std::string build_request(json const& body, std::string const& token = "correct-horse") {
  auto const text = body.dump();
  return with_headers("POST /api/v1/builds",
                      "Authorization: Bearer " + token +
                          "\r\nContent-Type: application/json\r\nContent-Length: " +
                          std::to_string(text.size()) + "\r\n") +
         text;
}

json pin(std::string const& build) {
  return {{"action", "pin"}, {"build", build}, {"who", "ada"}, {"why", "for the paper"}};
}

class BuildsApi : public testing::Test {
 protected:
  BuildsApi() {
    auto const build = api.builds() / "nightly-7";
    std::filesystem::create_directories(build);
    std::ofstream{build / "libtorch_cpu.so"} << std::string(1000, 'x');
  }

  json post(json const& body, int status) {
    auto const answer = ask(api.port(), build_request(body));
    EXPECT_EQ(answer.status, status) << answer.body;
    return json::parse(answer.body);
  }

  json shown(std::string const& path) {
    return json::parse(ask(api.port(), get("/api/v1/" + path)).body);
  }

  LiveApi api;
};

TEST_F(BuildsApi, PinIsStoredAndShown) {
  auto const done = post(pin("nightly-7"), 200);
  EXPECT_EQ(done.at("action"), "pin");
  EXPECT_EQ(done.at("builds").at(0).at("name"), "nightly-7");
  EXPECT_EQ(done.at("builds").at(0).at("bytes"), 1000);

  auto const build = shown("builds/nightly-7");
  EXPECT_EQ(build.at("pin").at("who"), "ada");
  EXPECT_EQ(build.at("pin").at("given_at"), "2026-01-02T03:04:05Z");
  EXPECT_THAT(build.at("in_use_by"), ElementsAre("ada: for the paper"));
  EXPECT_EQ(shown("builds").at("items").at(0), build);
}

TEST_F(BuildsApi, PinnedBuildIsNotRemoved) {
  post(pin("nightly-7"), 200);
  auto const refused = post({{"action", "remove"}, {"build", "nightly-7"}}, 409);
  EXPECT_THAT(refused.at("detail").get<std::string>(), HasSubstr("ada: for the paper"));
  post({{"action", "unpin"}, {"build", "nightly-7"}}, 200);
  post({{"action", "remove"}, {"build", "nightly-7"}}, 200);
  EXPECT_FALSE(std::filesystem::exists(api.builds() / "nightly-7"));
  EXPECT_EQ(ask(api.port(), get("/api/v1/builds/nightly-7")).status, 404);
  post({{"action", "remove"}, {"build", "nightly-7"}}, 404);
}

TEST_F(BuildsApi, PruneRemovesNothingBelowQuota) {
  EXPECT_THAT(post({{"action", "prune"}}, 200).at("builds"), testing::IsEmpty());
}

TEST_F(BuildsApi, FetchOfNightlyWithOtherPrefixIsRefused) {
  auto const refused =
      post({{"action", "fetch"}, {"build", "2026-01-01"}, {"who", "ada"}, {"why", "again"}}, 409);
  EXPECT_THAT(refused.at("detail").get<std::string>(), HasSubstr("nightly 2026-01-01"));
  post({{"action", "fetch"}, {"build", "1999-01-01"}, {"who", "ada"}, {"why", "again"}}, 404);
}

TEST_F(BuildsApi, ErrorsNameEachWrongField) {
  auto const fields = [this](json const& body) {
    std::vector<std::string> names;
    auto const answer = post(body, 400);
    for (auto const& error : answer.at("errors"))
      names.push_back(error.at("field"));
    return names;
  };
  EXPECT_THAT(fields(json::object()), ElementsAre("action"));
  EXPECT_THAT(fields({{"action", "burn"}}), ElementsAre("action"));
  EXPECT_THAT(fields({{"action", "pin"}}), ElementsAre("build", "who", "why"));
  EXPECT_THAT(fields({{"action", "prune"}, {"build", "x"}, {"who", "ada"}}),
              ElementsAre("build", "who"));
  EXPECT_EQ(ask(api.port(), build_request(pin("nightly-7"), "wrong")).status, 401);
}

}  // namespace
}  // namespace torchwatch::tests
