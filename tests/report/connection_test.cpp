#include "daemon/report/connection.h"

#include <fstream>
#include <optional>
#include <utility>

#include <gmock/gmock.h>

#include "tests/captured_log.h"
#include "tests/fakes/proxy/connect_proxy.h"
#include "tests/github/github_fixture.h"
#include "tests/temporary_variable.h"

namespace torchwatch::report {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

/// The real way to a fake GitHub, and what is logged of it.
class ConnectionTest : public github::WithFakeGithub {
 protected:
  Result<github::Access> access(int retries) const {
    config::GithubOptions options;
    options.repository = "pytorch/pytorch";
    options.api = server_->url();
    options.token_env = "TORCHWATCH_TEST_BOT";
    options.ca_file = identity_.ca.string();
    options.app = app_;
    SystemClock const clock;
    Network const network{https_transport(options), clock};
    github::ClientOptions client;
    client.retries = retries;
    auto const connection = Connection::open(options, network, std::move(client));
    return fakes::run(connection->client().access());
  }

  tests::CapturedLog log_;
  config::GithubAppOptions app_;

 private:
  tests::TemporaryVariable token_{"TORCHWATCH_TEST_BOT", "ghp_SecretOfTheService"};
  tests::TemporaryVariable no_{"no_proxy", std::nullopt};
  tests::TemporaryVariable capital_no_{"NO_PROXY", std::nullopt};
};

TEST_F(ConnectionTest, UsesTheProxyOfTheEnvironment) {
  fakes::ConnectProxy const proxy;
  tests::TemporaryVariable const https{"https_proxy", "http://" + proxy.address()};

  auto const answer = access(0);

  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_THAT(proxy.requests(), SizeIs(1));
  EXPECT_EQ("https://" + proxy.requests().front().target, server_->url());
}

TEST_F(ConnectionTest, UsesTheConfiguredApp) {
  tests::TemporaryVariable const any{"no_proxy", "*"};
  auto const key = fakes::make_app_key();
  auto const file = folder_ / "app.pem";
  std::ofstream{file} << key.private_key;
  app_.client_id = "Iv1.ab";
  app_.private_key_file = file.string();
  nlohmann::json const app{{"client_id", "Iv1.ab"},
                           {"slug", "watch"},
                           {"installation", 42},
                           {"public_keys", nlohmann::json::array({key.public_key})}};
  change({{"settings", {{"app", app}}}});

  auto const answer = access(0);

  EXPECT_TRUE(answer) << answer.error().message;
}

TEST_F(ConnectionTest, SaysThatAnAppHasNoKey) {
  app_.client_id = "Iv1.ab";
  EXPECT_THAT(access(0).error().message, HasSubstr("no github.app.private_key_file is configured"));
}

TEST_F(ConnectionTest, ReadsAnAppsKeyFromSystemd) {
  tests::TemporaryVariable const systemd{"CREDENTIALS_DIRECTORY", folder_.path().string()};
  std::ofstream{folder_ / "github-app-key"} << "no key";
  app_.client_id = "Iv1.ab";
  EXPECT_THAT(access(0).error().message,
              HasSubstr((folder_ / "github-app-key").string() + ": found another text"));
}

TEST_F(ConnectionTest, LogsWhyARequestIsRepeated) {
  tests::TemporaryVariable const any{"no_proxy", "*"};
  fail({{"drop", true}});

  auto const answer = access(1);

  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(log_.text(), HasSubstr("[warning] github_repeated times=1 reason=\""));
  EXPECT_THAT(log_.text(), HasSubstr("transfer: "));
}

}  // namespace
}  // namespace torchwatch::report
