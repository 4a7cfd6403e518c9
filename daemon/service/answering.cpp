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

api::ApiOptions api_options(config::Options const& options, std::string token) {
  api::ApiOptions result;
  result.decide = options.decide;
  result.keeping = retention::keeping_of(options);
  result.fleets = options.fleets;
  result.prior = options.bisect.prior;
  result.version = TORCHWATCH_VERSION;
  result.token = std::move(token);
  return result;
}

}  // namespace

Answering::Answering(config::Options const& options,
                     std::string token,
                     storage::Store& reader,
                     api::VitalSigns const& vitals,
                     api::Requests requests)
    : acceptor_{loop_, {asio::ip::make_address(options.http.address), options.http.port}, true},
      api_{reader, clock_, vitals, std::move(requests), api_options(options, std::move(token))} {
  auto const endpoint = acceptor_.local_endpoint();
  spdlog::info("http_listening url=http://{}:{}", options.http.address, endpoint.port());
  net::HttpServerOptions limits;
  limits.report = [](std::string const& line) {
    spdlog::error("http_failed {}", line);
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
