#include "daemon/service/answering.h"

#include <chrono>
#include <exception>
#include <utility>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <spdlog/spdlog.h>

#include "daemon/net/http_server.h"

namespace torchwatch::service {
namespace asio = boost::asio;

namespace {

api::ApiOptions api_options(config::Options const& options, Tokens tokens) {
  api::ApiOptions result;
  result.decide = options.decide;
  result.keeping = retention::keeping_of(options);
  result.fleets = options.fleets;
  result.prior = options.bisect.prior;
  result.version = TORCHWATCH_VERSION;
  result.token = std::move(tokens.changing);
  result.read_token = std::move(tokens.reading);
  result.hosts = options.http.hosts;
  return result;
}

}  // namespace

Answering::Answering(config::Options const& options,
                     Tokens tokens,
                     storage::Store& reader,
                     api::VitalSigns const& vitals,
                     api::Requests requests)
    : acceptor_{loop_, {asio::ip::make_address(options.http.address), options.http.port}, true},
      api_{reader, clock_, vitals, std::move(requests), api_options(options, std::move(tokens))} {
  auto const endpoint = acceptor_.local_endpoint();
  spdlog::info("http_listening url=http://{}:{}", options.http.address, endpoint.port());
  if (!asio::ip::make_address(options.http.address).is_loopback() &&
      options.http.read_token_file.empty())
    spdlog::warn(
        "http_open address={} reason=\"everybody who reaches it may read: "
        "http.read_token_file\"",
        options.http.address);
  net::HttpServerOptions limits;
  limits.report = [](std::string const& line) {
    spdlog::error("http_failed {}", line);
  };
  limits.doorman = [this](net::HttpRequest const& head) {
    return api_.objection_to(head);
  };
  auto handler = [this](net::HttpRequest request) {
    return api_.handle(std::move(request));
  };
  auto finished = [this](std::exception_ptr failure) {
    if (failure) spdlog::error("http_ended");
    patience_.cancel();
  };
  asio::co_spawn(loop_,
                 net::serve_http(std::move(acceptor_), std::move(handler), std::move(limits)),
                 asio::bind_cancellation_slot(stop_.slot(), std::move(finished)));
  thread_ = std::jthread{[this] {
    loop_.run();
  }};
}

Answering::~Answering() {
  asio::post(loop_, [this] {
    stop_.emit(asio::cancellation_type::terminal);
    // An answer may be waiting for the other loop, which has stopped already.
    patience_.expires_after(std::chrono::seconds{10});
    patience_.async_wait([this](boost::system::error_code problem) {
      if (!problem) loop_.stop();
    });
  });
}

}  // namespace torchwatch::service
