#include "github/app_tokens.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "github/issue.h"
#include "tests/fakes/github/certificates.h"
#include "tests/fakes/github/direct_transport.h"
#include "tests/fakes/github/fake_transport.h"
#include "tests/fakes/github/run.h"
#include "tests/github/stories.h"
#include "tests/temporary_folder.h"

/// A GitHub App at a fake GitHub that verifies its signatures.
namespace torchwatch::github {
namespace {

using nlohmann::json;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class MovedClock final : public Clock {
 public:
  Timestamp now() const override { return time; }

  Timestamp time{seconds{1'800'000'000}};
};

/// Keys take a tenth of a second to make.
fakes::AppKey const& first_key() {
  static auto const key = fakes::make_app_key();
  return key;
}

fakes::AppKey const& second_key() {
  static auto const key = fakes::make_app_key();
  return key;
}

/// Passes requests on to a transport that lives longer.
class LentTransport final : public Transport {
 public:
  explicit LentTransport(Transport& transport) : transport_{transport} {}

  boost::asio::awaitable<Result<Response>> send(Request request) override {
    return transport_.send(std::move(request));
  }

 private:
  Transport& transport_;
};

class AppTokensTest : public testing::Test {
 protected:
  AppTokensTest() {
    app_.client_id = "Iv1.abcdef";
    app_.key_file = folder_ / "app.pem";
    app_.client.repository = "pytorch/pytorch";
    write_key(first_key().private_key);
    install(first_key().public_key);
  }

  void write_key(std::string const& pem) const { std::ofstream{app_.key_file} << pem; }

  /// Installs the App, which has one key, in the repository.
  void install(std::string const& public_key) {
    json const app{{"client_id", "Iv1.abcdef"},
                   {"slug", "watch"},
                   {"installation", 42},
                   {"public_keys", json::array({public_key})}};
    change({{"settings", {{"app", app}, {"login", "watch[bot]"}}}});
    pass_time(seconds{0});
  }

  void pass_time(seconds duration) {
    clock_.time += duration;
    change({{"settings", {{"now", clock_.time.time_since_epoch().count()}}}});
  }

  void change(json const& control) { github_.control(control, fakes::DirectTransport::host()); }

  std::shared_ptr<AppTokens> make_tokens() {
    auto open = [this] {
      return std::make_unique<fakes::DirectTransport>(github_);
    };
    return std::make_shared<AppTokens>(std::move(open), clock_, no_wait, app_);
  }

  static boost::asio::awaitable<void> no_wait(seconds) { co_return; }

  static Result<std::string> token_of(AppTokens& tokens) { return fakes::run(tokens.token()); }

  Client client_with(Transport& transport, std::shared_ptr<AppTokens> tokens) const {
    ClientOptions options;
    options.repository = "pytorch/pytorch";
    options.retries = 0;
    options.tokens = std::move(tokens);
    return {transport, clock_, no_wait, std::move(options)};
  }

  /// "GET /repos/o/r 200" for each request.
  std::vector<std::string> requests() const {
    std::vector<std::string> lines;
    auto const state = github_.state();
    for (auto const& request : state.at("requests"))
      lines.push_back(request.at("method").get<std::string>() + " " +
                      request.at("target").get<std::string>() + " " + request.at("status").dump());
    return lines;
  }

  std::ptrdiff_t tokens_made() const {
    return std::ranges::count(requests(), "POST /app/installations/42/access_tokens 201");
  }

  tests::TemporaryFolder folder_;
  MovedClock clock_;
  fakes::FakeGithub github_{""};
  AppOptions app_;
};

TEST_F(AppTokensTest, AreMadeOnceAndUsed) {
  auto const tokens = make_tokens();
  fakes::DirectTransport transport{github_};
  auto client = client_with(transport, tokens);

  for (int time = 0; time < 2; ++time) {
    auto const access = fakes::run(client.access());
    ASSERT_TRUE(access) << access.error().message;
  }

  EXPECT_THAT(requests(),
              ElementsAre("GET /repos/pytorch/pytorch/installation 200",
                          "POST /app/installations/42/access_tokens 201",
                          "GET /repos/pytorch/pytorch 200",
                          "GET /repos/pytorch/pytorch 200"));
}

TEST_F(AppTokensTest, MayBeLong) {
  EXPECT_THAT(token_of(*make_tokens()).value(), SizeIs(testing::Ge(1000U)));
}

TEST_F(AppTokensTest, DoNotAskForAConfiguredInstallationOfTheRepository) {
  app_.installation = 42;
  ASSERT_TRUE(token_of(*make_tokens()));
  EXPECT_THAT(
      requests(),
      ElementsAre("GET /app/installations/42 200", "POST /app/installations/42/access_tokens 201"));
}

TEST_F(AppTokensTest, AreRenewedFiveMinutesBeforeTheirEnd) {
  auto const tokens = make_tokens();
  auto const first = token_of(*tokens).value();

  pass_time(minutes{55} - seconds{1});
  EXPECT_EQ(token_of(*tokens).value(), first);
  pass_time(seconds{1});
  EXPECT_NE(token_of(*tokens).value(), first);

  EXPECT_EQ(tokens_made(), 2);
}

TEST_F(AppTokensTest, AreRenewedWhenGithubRejectsOneEarly) {
  auto const tokens = make_tokens();
  fakes::DirectTransport transport{github_};
  auto client = client_with(transport, tokens);
  ASSERT_TRUE(fakes::run(client.access()));
  change({{"revoked", true}});

  auto const access = fakes::run(client.access());

  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(tokens_made(), 2);
  EXPECT_EQ(client.refusal(), Refusal::none);
}

TEST_F(AppTokensTest, AreRenewedOnceForARequest) {
  auto const tokens = make_tokens();
  fakes::DirectTransport transport{github_};
  auto client = client_with(transport, tokens);
  ASSERT_TRUE(token_of(*tokens));
  change({{"faults",
           json::array({{{"method", "GET"},
                         {"status", 401},
                         {"times", 9},
                         {"message", "Bad credentials"}}})}});

  auto const access = fakes::run(client.access());

  ASSERT_FALSE(access);
  EXPECT_EQ(access.error().code, ErrorCode::refused);
  EXPECT_EQ(client.refusal(), Refusal::credentials);
  EXPECT_EQ(std::ranges::count(requests(), "GET /repos/pytorch/pytorch 401"), 2);
  EXPECT_EQ(tokens_made(), 2);
}

TEST_F(AppTokensTest, UseTheNewKeyAfterARotationOnDisk) {
  auto const tokens = make_tokens();
  ASSERT_TRUE(token_of(*tokens));
  install(second_key().public_key);
  pass_time(minutes{56});

  auto const with_old_key = token_of(*tokens);
  ASSERT_FALSE(with_old_key);
  EXPECT_THAT(with_old_key.error().message, HasSubstr("A JSON web token could not be decoded"));
  EXPECT_THAT(with_old_key.error().message, Not(HasSubstr("PRIVATE KEY")));

  write_key(second_key().private_key);
  auto const with_new_key = token_of(*tokens);
  EXPECT_TRUE(with_new_key) << with_new_key.error().message;
}

TEST_F(AppTokensTest, FailWithoutAKeyAndSayWhere) {
  std::filesystem::remove(app_.key_file);
  auto const none = token_of(*make_tokens());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(none.error().message, HasSubstr("private key " + app_.key_file.string()));

  write_key("no key");
  auto const other = token_of(*make_tokens());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(other.error().message, HasSubstr(app_.key_file.string() + ": found another text"));
  EXPECT_THAT(requests(), testing::IsEmpty());
}

TEST_F(AppTokensTest, SayThatTheAppIsNotInstalled) {
  change({{"settings", {{"repository", "pytorch/vision"}}}});
  auto const token = token_of(*make_tokens());
  ASSERT_FALSE(token);
  EXPECT_EQ(token.error().code, ErrorCode::not_found);
  EXPECT_THAT(token.error().message, HasSubstr("the App is not installed in pytorch/pytorch"));
}

TEST_F(AppTokensTest, SayThatTheInstallationIsSuspended) {
  auto app = github_.state().at("settings").at("app");
  app["suspended"] = true;
  change({{"settings", {{"app", app}}}});
  EXPECT_THAT(token_of(*make_tokens()).error().message,
              HasSubstr("This installation has been suspended"));
}

TEST_F(AppTokensTest, FindTheInstallationAgainWhenTheAppWasInstalledAnew) {
  auto const tokens = make_tokens();
  ASSERT_TRUE(token_of(*tokens));
  auto app = github_.state().at("settings").at("app");
  app["installation"] = 43;
  change({{"settings", {{"app", app}}}});
  pass_time(minutes{56});

  EXPECT_FALSE(token_of(*tokens));
  EXPECT_TRUE(token_of(*tokens));
}

TEST_F(AppTokensTest, RespectAPauseThatGithubAsksFor) {
  change({{"faults",
           json::array({{{"method", "POST"},
                         {"status", 403},
                         {"message", "You have exceeded a secondary rate limit."},
                         {"headers", {{"retry-after", "90"}}}}})}});
  auto const tokens = make_tokens();
  EXPECT_EQ(token_of(*tokens).error().code, ErrorCode::unavailable);
  auto const sent = requests().size();

  pass_time(seconds{89});
  EXPECT_FALSE(token_of(*tokens));
  EXPECT_THAT(requests(), SizeIs(sent));
  pass_time(seconds{1});
  EXPECT_TRUE(token_of(*tokens));
}

TEST_F(AppTokensTest, AreRejectedWhenTheClockIsWrong) {
  clock_.time += minutes{2};
  EXPECT_THAT(token_of(*make_tokens()).error().message, HasSubstr("'Issued at' claim ('iat')"));
  clock_.time -= minutes{20};
  EXPECT_THAT(token_of(*make_tokens()).error().message, HasSubstr("'Expiration time' claim"));
}

TEST_F(AppTokensTest, FileAndFindTheIssueOfTheBot) {
  auto const tokens = make_tokens();
  fakes::DirectTransport transport{github_};
  auto client = client_with(transport, tokens);
  auto const draft = draft_issue(culprit_story(), {{"torchbench-perf-report"}});

  for (bool const existed : {false, true}) {
    auto const filed = fakes::run(client.file_once(draft, {}));
    ASSERT_TRUE(filed) << filed.error().message;
    EXPECT_EQ(filed->existed, existed);
  }

  EXPECT_THAT(requests(), Not(testing::Contains("GET /user 403")));
  EXPECT_THAT(requests(),
              testing::Contains("GET /repos/pytorch/pytorch/issues?state=all&per_page=100&creator="
                                "watch%5Bbot%5D 200"));
}

TEST_F(AppTokensTest, AreRequestedAtTheAddressOfAnEnterpriseServer) {
  fakes::FakeTransport transport;
  transport.replies.emplace_back(Response{200, {}, R"({"id": 7, "app_slug": "watch"})"});
  transport.replies.emplace_back(
      Response{201, {}, R"({"token": "ghs_a", "expires_at": "2027-01-15T09:00:00Z"})"});
  app_.client.api = "https://ghe.example/api/v3";
  auto open = [&transport] {
    return std::make_unique<LentTransport>(transport);
  };
  AppTokens tokens{std::move(open), clock_, no_wait, app_};

  EXPECT_EQ(token_of(tokens).value(), "ghs_a");

  ASSERT_THAT(transport.sent, SizeIs(2));
  EXPECT_EQ(transport.sent[0].url, "https://ghe.example/api/v3/repos/pytorch/pytorch/installation");
  EXPECT_EQ(transport.sent[1].url, "https://ghe.example/api/v3/app/installations/7/access_tokens");
  EXPECT_EQ(json::parse(transport.sent[1].body),
            json({{"repositories", {"pytorch"}}, {"permissions", {{"issues", "write"}}}}));
}

TEST_F(AppTokensTest, FailWhenGithubsAnswerIsNoToken) {
  for (auto const* const body : {"{}",
                                 R"({"token": "a b", "expires_at": "2027-01-15T09:00:00Z"})",
                                 R"({"token": "a", "expires_at": "soon"})"}) {
    fakes::FakeTransport transport;
    transport.replies.emplace_back(Response{200, {}, R"({"id": 7})"});
    transport.replies.emplace_back(Response{201, {}, body});
    auto open = [&transport] {
      return std::make_unique<LentTransport>(transport);
    };
    AppTokens tokens{std::move(open), clock_, no_wait, app_};
    EXPECT_EQ(token_of(tokens).error().code, ErrorCode::unavailable) << body;
  }
}

}  // namespace
}  // namespace torchwatch::github
