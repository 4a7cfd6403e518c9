#include "daemon/report/connection.h"

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
#include "github/credentials.h"

namespace torchwatch::report {
namespace asio = boost::asio;

namespace {

std::optional<std::string> environment_variable(std::string const& name) {
  auto const* const value =
      std::getenv(name.c_str());  // no variable is set while there are threads
  return value == nullptr ? std::nullopt : std::optional<std::string>{value};
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

}  // namespace

asio::awaitable<void> sleep_for(std::chrono::seconds duration) {
  asio::steady_timer timer{co_await asio::this_coro::executor, duration};
  co_await timer.async_wait(asio::use_awaitable);
}

OpenTransport https_transport(config::GithubOptions const& options) {
  http::Options way;
  way.ca_file = options.ca_file;
  way.limit = options.timeout;
  return [way] {
    return std::make_unique<http::CurlTransport>(way);
  };
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

Result<std::unique_ptr<Connection>> Connection::open(config::GithubOptions const& options,
                                                     Network const& network,
                                                     github::ClientOptions client) {
  auto token = github::find_token(options, environment_variable(options.token_env));
  if (!token) return token.error();
  if (!token->warning.empty()) spdlog::warn("token_exposed reason=\"{}\"", token->warning);
  client.api = options.api;
  client.repository = options.repository;
  client.token = token->value;
  client.patience = std::chrono::minutes{1};
  client.on_repetition = RepetitionLog{};
  return std::make_unique<Connection>(network, std::move(client));
}

Connection::Connection(Network const& network, github::ClientOptions options)
    : transport_{network.open_transport()},
      client_{*transport_, network.clock, network.sleep, std::move(options)} {}

}  // namespace torchwatch::report
