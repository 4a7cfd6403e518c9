#include "tests/api/refusal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/api/http_client.h"
#include "tests/api/live_api.h"

namespace torchwatch::tests {
namespace {

using nlohmann::json;

void expect_problem(Answer const& answer, Refusal const& refusal) {
  ASSERT_EQ(answer.status, refusal.status) << answer.body;
  EXPECT_EQ(answer.headers.at("content-type"), "application/problem+json");
  auto const problem = json::parse(answer.body);
  EXPECT_EQ(problem.at("type"), "about:blank");
  EXPECT_EQ(problem.at("status"), refusal.status);
  EXPECT_FALSE(problem.at("title").get<std::string>().empty());
  EXPECT_EQ(problem.contains("errors"), !refusal.field.empty()) << answer.body;
  auto detail = problem.at("detail").get<std::string>();
  if (!refusal.field.empty()) {
    detail.clear();
    for (auto const& error : problem.at("errors"))
      if (error.at("field") == refusal.field) detail += error.at("detail").get<std::string>();
    EXPECT_FALSE(detail.empty()) << answer.body;
  }
  EXPECT_THAT(detail, ::testing::HasSubstr(refusal.detail));
}

}  // namespace

void expect_refused(std::vector<Refusal> const& refusals) {
  LiveApi const api;
  for (auto const& refusal : refusals) {
    SCOPED_TRACE(refusal.name);
    expect_problem(ask(api.port(), refusal.request), refusal);
    EXPECT_EQ(ask(api.port(), get("/healthz")).status, 200);
  }
  EXPECT_TRUE(api.asked().empty());
  EXPECT_TRUE(api.steered().empty());
}

std::string with_headers(std::string const& line, std::string const& headers) {
  return line + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n";
}

}  // namespace torchwatch::tests
