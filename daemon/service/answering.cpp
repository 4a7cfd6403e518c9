#include "daemon/service/answering.h"

#include <chrono>
#include <exception>
#include <utility>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <pthread.h>
#include <spdlog/spdlog.h>

#include "config/address.h"
#include "daemon/http/http_origin.h"
#include "daemon/http/http_server.h"
#include "daemon/service/endpoints.h"
#include "storage/base/secret.h"

namespace torchwatch::service {
namespace asio = boost::asio;

namespace {

api::ApiOptions api_options(config::Options const& options, Tokens tokens) {
  api::ApiOptions result;
  result.decide = options.decide;
  result.retention = builds::retention_policy_of(options);
  result.fleets = options.fleets;
  result.prior = options.bisect.prior;
  result.version = TORCHWATCH_VERSION;
  result.access.token = std::move(tokens.changing);
  result.access.read_token = std::move(tokens.reading);
  result.access.hosts = options.http.hosts;
  result.access.checks_host = config::socket_path(options.http.address).empty();
  return result;
}

/// `port`: the port in use, if the configuration allows any free one.
std::string listening_url(config::HttpOptions http, std::uint16_t port) {
  http.port = port;
  return origin_of(http).url;
}

void warn_of_openness(config::HttpOptions const& http) {
  if (config::is_on_this_machine(http.address)) return;
  if (http.read_token_file.empty())
    spdlog::warn(
        "http_insecure address={} reason=\"every client that reaches it may read: "
        "http.read_token_file\"",
        http.address);
  if (!http.tls.is_on())
    spdlog::warn(
        "http_insecure address={} reason=\"tokens and answers can be overheard on their "
        "way: http.tls\"",
        http.address);
}

/// Reads a token; empty without a file.
Result<std::string> token_in(std::string const& file, std::string const& key) {
  if (file.empty()) return std::string{};
  auto token = read_bearer_token(file, key + ": token");
  if (!token) return token.error();
  if (!token->warning.empty()) spdlog::warn("token_exposed reason=\"{}\"", token->warning);
  return std::move(token->value);
}

}  // namespace

Result<Tokens> read_tokens(config::HttpOptions const& http) {
  auto changing = token_in(http.token_file, "http.token_file");
  if (!changing) return changing.error();
  auto reading = token_in(http.read_token_file, "http.read_token_file");
  if (!reading) return reading.error();
  return Tokens{std::move(*changing), std::move(*reading)};
}

Answering::Answering(asio::io_context& loop,
                     http::Endpoint endpoint,
                     config::Options const& options,
                     Tokens tokens,
                     storage::Store& reader,
                     api::SharedHealth const& health,
                     metrics::Counters& counters,
                     api::Requests requests)
    : loop_{loop},
      api_{reader,
           clock_,
           health,
           counters,
           std::move(requests),
           api_options(options, std::move(tokens))} {
  spdlog::info("http_listening url={}", listening_url(options.http, endpoint.listener.port()));
  warn_of_openness(options.http);
  serve(std::move(endpoint));
  thread_ = std::jthread{[this] {
    loop_.run();
  }};
  ::pthread_setname_np(thread_.native_handle(), "answering");
}

void Answering::serve(http::Endpoint endpoint) {
  http::HttpServerOptions limits;
  limits.report = [](std::string const& line) {
    spdlog::error("http_failed {}", line);
  };
  limits.precheck = [this](http::HttpRequest const& head) {
    return api_.check_request(head);
  };
  auto handler = [this](http::HttpRequest request) {
    return api_.handle(std::move(request));
  };
  auto finished = [this](std::exception_ptr failure) {
    if (failure) spdlog::error("http_ended");
    patience_.cancel();
  };
  asio::co_spawn(loop_,
                 http::serve_http(std::move(endpoint), std::move(handler), std::move(limits)),
                 asio::bind_cancellation_slot(stop_.slot(), std::move(finished)));
}

Answering::~Answering() {
  asio::post(loop_, [this] {
    stop_.emit(asio::cancellation_type::terminal);
    // A reply may be waiting for the other loop, which has stopped already.
    patience_.expires_after(std::chrono::seconds{10});
    patience_.async_wait([this](boost::system::error_code problem) {
      if (!problem) loop_.stop();
    });
  });
}

}  // namespace torchwatch::service
