#include "daemon/report/connection.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <spdlog/spdlog.h>

#include "daemon/http/curl_transport.h"
#include "github/app_tokens.h"
#include "github/credentials.h"
#include "storage/base/secret.h"

namespace torchwatch::report {
namespace asio = boost::asio;

namespace {

std::optional<std::string> environment_variable(std::string const& name) {
  auto const* const value =
      std::getenv(name.c_str());  // no variable is set while there are threads
  return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

/// Returns the directory in which systemd passes credentials; empty without one.
std::string systemd_credentials() {
  return environment_variable("CREDENTIALS_DIRECTORY").value_or("");
}

/// The token of the configuration. It is read for each request, so a new one needs no restart.
class ConfiguredToken final : public github::TokenSource {
 public:
  explicit ConfiguredToken(config::GithubOptions options) : options_{std::move(options)} {}

  asio::awaitable<Result<std::string>> token() override {
    auto const secret = github::find_token(
        options_, environment_variable(options_.token_env), systemd_credentials());
    if (!secret) co_return secret.error();
    warn_once(secret->warning);
    co_return secret->value;
  }

 private:
  void warn_once(std::string const& warning) {
    if (!warning.empty() && warning != warning_)
      spdlog::warn("token_exposed reason=\"{}\"", warning);
    warning_ = warning;
  }

  config::GithubOptions options_;
  std::string warning_;
};

/// An App without a private key: its tokens cannot be made.
class MissingKey final : public github::TokenSource {
 public:
  explicit MissingKey(Error error) : error_{std::move(error)} {}

  asio::awaitable<Result<std::string>> token() override { co_return error_; }

 private:
  Error error_;
};

std::shared_ptr<github::TokenSource> app_tokens(config::GithubOptions const& options,
                                                Network const& network) {
  auto const key = github::find_app_key(options, systemd_credentials());
  if (!key) return std::make_shared<MissingKey>(key.error());
  auto const warning = exposure_of(*key, "private key of github.app");
  if (!warning.empty()) spdlog::warn("token_exposed reason=\"{}\"", warning);
  github::AppOptions app;
  app.client_id = options.app.client_id;
  app.key_file = *key;
  app.installation = options.app.installation_id;
  app.client.api = options.api;
  app.client.repository = options.repository;
  return std::make_shared<github::AppTokens>(
      network.open_transport, network.clock, network.sleep, std::move(app));
}

/// Logs why requests are repeated, at most once a minute: GitHub may be down for hours.
class RepetitionLog {
 public:
  void operator()(Error const& error) {
    constexpr std::chrono::minutes pause{1};
    auto const now = std::chrono::steady_clock::now();
    ++repetitions_;
    if (said_ && now < *said_ + pause) return;
    said_ = now;
    spdlog::warn(
        "github_repeated times={} reason=\"{}\"", std::exchange(repetitions_, 0), error.message);
  }

 private:
  std::optional<std::chrono::steady_clock::time_point> said_;
  int repetitions_ = 0;
};

OpenTransport opener_of(http::Options way) {
  return [way = std::move(way)] {
    return std::make_unique<http::CurlTransport>(way);
  };
}

}  // namespace

asio::awaitable<void> sleep_for(std::chrono::seconds duration) {
  asio::steady_timer timer{co_await asio::this_coro::executor, duration};
  co_await timer.async_wait(asio::use_awaitable);
}

OpenTransport https_transport(config::GithubOptions const& options) {
  http::Options way;
  way.ca_file = options.ca_file;
  way.limit = options.timeout;
  return opener_of(std::move(way));
}

OpenTransport https_transport(config::WebhookOptions const& options) {
  http::Options way;
  way.limit = options.timeout;
  return opener_of(std::move(way));
}

github::ClientOptions options_with_pause(storage::Store& store, int retries) {
  github::ClientOptions client;
  client.retries = retries;
  client.not_before = store.incidents().github_pause_end();
  client.on_limit = [&store](Timestamp end) {
    store.incidents().pause_github(end);
  };
  return client;
}

std::shared_ptr<github::TokenSource> configured_tokens(config::GithubOptions const& options,
                                                       Network const& network) {
  if (options.app.is_on()) return app_tokens(options, network);
  return std::make_shared<ConfiguredToken>(options);
}

Network shared_network(config::GithubOptions const& options,
                       OpenTransport open_transport,
                       Clock const& clock,
                       github::Sleeper sleep) {
  Network network{std::move(open_transport), clock, std::move(sleep)};
  network.tokens = configured_tokens(options, network);
  return network;
}

void pause_after(github::Refusal refusal, Network const& network) {
  constexpr std::chrono::hours pause{1};
  if (github::stops_repository(refusal)) *network.refused_until = network.clock.now() + pause;
}

std::unique_ptr<Connection> Connection::open(config::GithubOptions const& options,
                                             Network const& network,
                                             github::ClientOptions client) {
  client.api = options.api;
  client.repository = options.repository;
  client.tokens = network.tokens ? network.tokens : configured_tokens(options, network);
  client.patience = std::chrono::minutes{1};
  client.not_before = std::max(client.not_before, *network.refused_until);
  client.on_repetition = RepetitionLog{};
  return std::make_unique<Connection>(network, std::move(client));
}

Connection::Connection(Network const& network, github::ClientOptions options)
    : transport_{network.open_transport()},
      client_{*transport_, network.clock, network.sleep, std::move(options)} {}

}  // namespace torchwatch::report
