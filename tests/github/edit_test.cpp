// Edits of an issue's body and state at a fake GitHub whose responses are lost.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "github/client.h"
#include "tests/fakes/github/direct_transport.h"
#include "tests/fakes/github/fake_github.h"
#include "tests/fakes/github/run.h"

namespace torchwatch::github {
namespace {

using nlohmann::json;
using testing::HasSubstr;

boost::asio::awaitable<void> no_pause(std::chrono::seconds) {
  co_return;
}

constexpr auto issue_address = "https://github.com/pytorch/pytorch/issues/1";
constexpr auto edit_marker = "<!-- torchwatch-event: 89ab -->";

/// An issue that was filed as the report 0123.
class GithubEdit : public testing::Test {
 protected:
  GithubEdit() {
    json const filed{{"body", body_}};
    change({{"issues", json::array({filed})}});
  }

  template <class T>
  T with_client(std::function<boost::asio::awaitable<T>(Client&)> const& use) {
    fakes::DirectTransport transport{github_};
    ClientOptions options;
    options.repository = "pytorch/pytorch";
    options.tokens = std::make_shared<FixedToken>("token-of-16-bytes");
    Client client{transport, clock_, no_pause, options};
    return fakes::run(use(client));
  }

  Result<std::optional<Edit>> edit() {
    return with_client<Result<std::optional<Edit>>>([&](Client& client) {
      BodyDraft draft;
      draft.report = "0123";
      draft.marker = edit_marker;
      draft.body = marker_of("0123") + "\n" + edit_marker + "\nnew";
      draft.known_digest = digest_of_body(body_);
      return client.edit_body(issue_address, std::move(draft));
    });
  }

  Result<std::optional<std::string>> set(IssueState state) {
    return with_client<Result<std::optional<std::string>>>(
        [&](Client& client) { return client.set_state(issue_address, "0123", state); });
  }

  void change(json const& control) { github_.control(control, fakes::DirectTransport::host()); }

  void fail(json const& fault) { change({{"faults", json::array({fault})}}); }

  json issue() const { return github_.state().at("issues").at(0); }

  std::ptrdiff_t patches() const {
    auto const state = github_.state();
    auto const& all = state.at("requests");
    return std::count_if(all.begin(), all.end(), [](json const& request) {
      return request.at("method") == "PATCH";
    });
  }

  std::string const body_ = marker_of("0123") + "\nold";
  SystemClock clock_;
  fakes::FakeGithub github_{""};
};

TEST_F(GithubEdit, ReplacesTheBodyThatWasWrittenLast) {
  EXPECT_EQ(edit().value(), Edit::written);
  EXPECT_THAT(issue().at("body").get<std::string>(), testing::EndsWith("new"));
}

TEST_F(GithubEdit, LeavesTheBodyThatAUserEdited) {
  change({{"changed", {{"1", {{"body", body_ + " and more"}}}}}});
  EXPECT_EQ(edit().value(), Edit::foreign);
  EXPECT_EQ(patches(), 0);
}

TEST_F(GithubEdit, RecognizesTheNewBodyThoughAUserEditedIt) {
  ASSERT_TRUE(edit());
  change({{"changed", {{"1", {{"body", issue().at("body").get<std::string>() + "!"}}}}}});
  EXPECT_EQ(edit().value(), Edit::written);
  EXPECT_EQ(patches(), 1);
}

TEST_F(GithubEdit, IsNotRepeatedWhenTheResponseIsLostAfterwards) {
  fail({{"method", "PATCH"}, {"after", true}, {"drop", true}});
  EXPECT_EQ(edit().value(), Edit::written);
  EXPECT_EQ(patches(), 1);
}

TEST_F(GithubEdit, IsRepeatedWhenItDidNothing) {
  fail({{"method", "PATCH"}, {"status", 502}});
  EXPECT_EQ(edit().value(), Edit::written);
  EXPECT_EQ(patches(), 2);
}

TEST_F(GithubEdit, OfADeletedIssueHasNoResult) {
  change({{"deleted", json::array({1})}});
  EXPECT_EQ(edit().value(), std::nullopt);
  EXPECT_EQ(set(IssueState::completed).value(), std::nullopt);
}

TEST_F(GithubEdit, WithoutTheRightSaysWhy) {
  change({{"settings", {{"push", false}, {"login", "another"}}}});
  auto const edited = edit();
  ASSERT_FALSE(edited);
  EXPECT_EQ(edited.error().code, ErrorCode::refused);
  EXPECT_THAT(edited.error().message, HasSubstr("Resource not accessible"));
}

TEST_F(GithubEdit, ClosesWithAReasonAndReopens) {
  EXPECT_EQ(set(IssueState::completed).value(), issue_address);
  EXPECT_EQ(issue().at("state"), "closed");
  EXPECT_EQ(issue().at("state_reason"), "completed");
  EXPECT_EQ(set(IssueState::open).value(), issue_address);
  EXPECT_EQ(issue().at("state"), "open");
  EXPECT_EQ(set(IssueState::not_planned).value(), issue_address);
  EXPECT_EQ(issue().at("state_reason"), "not_planned");
}

TEST_F(GithubEdit, LeavesTheReasonOfAUserWhoClosedIt) {
  change({{"changed", {{"1", {{"state", "closed"}, {"state_reason", "not_planned"}}}}}});
  EXPECT_EQ(set(IssueState::completed).value(), issue_address);
  EXPECT_EQ(issue().at("state_reason"), "not_planned");
  EXPECT_EQ(patches(), 0);
}

TEST_F(GithubEdit, ClosesOnceThoughTheResponseIsLost) {
  fail({{"method", "PATCH"}, {"after", true}, {"status", 504}});
  EXPECT_EQ(set(IssueState::completed).value(), issue_address);
  EXPECT_EQ(patches(), 1);
}

}  // namespace
}  // namespace torchwatch::github
