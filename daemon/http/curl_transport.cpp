#include "daemon/http/curl_transport.h"

#include <cstdint>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <sys/eventfd.h>
#include <unistd.h>

#include "http/url.h"

namespace torchwatch::http {
namespace {

namespace asio = boost::asio;

/// A request on its own thread. The thread signals its end on an eventfd and uses nothing of Asio.
/// The constructor throws system_error if the thread cannot be started.
class Exchange {
 public:
  Exchange(asio::any_io_executor const& executor,
           github::Request request,
           torchwatch::http::Options options)
      : request_{std::move(request)},
        options_{std::move(options)},
        event_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)},
        ended_{executor, event_},
        thread_{[this] {
          run();
        }} {}

  Exchange(Exchange const&) = delete;
  Exchange& operator=(Exchange const&) = delete;

  ~Exchange() { client_.stop(); }

  /// Waits until the request has ended. Throws system_error if the coroutine is cancelled.
  asio::awaitable<void> wait() {
    return ended_.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
  }

  /// Returns the result. Call it once, after wait().
  Result<github::Response> result() {
    thread_.join();
    return std::move(result_);
  }

 private:
  void run() {
    try {
      result_ = client_.send(request_, options_);
    } catch (std::exception const& problem) {
      result_ = Error{ErrorCode::internal, problem.what()};
    }
    ::eventfd_write(event_, 1);
  }

  github::Request request_;
  torchwatch::http::Options options_;
  torchwatch::http::Client client_;
  Result<github::Response> result_{Error{}};
  int event_;
  asio::posix::stream_descriptor ended_;
  std::jthread thread_;  // joined first
};

/// Makes `refused` `unavailable`, so that requests are retried. An untrusted certificate can be
/// temporary, for example from a login page of a network.
Error as_lost(Error error) {
  if (error.code == ErrorCode::refused) error.code = ErrorCode::unavailable;
  return error;
}

}  // namespace

CurlTransport::CurlTransport(torchwatch::http::Options options) : options_{std::move(options)} {}

asio::awaitable<Result<github::Response>> CurlTransport::send(github::Request request) {
  auto const url = torchwatch::http::Url::parse(request.url);
  if (!url || url->scheme() != "https" || url->has_credentials())
    co_return Error{ErrorCode::invalid_argument,
                    "URL: found \"" + torchwatch::http::without_secrets(request.url) +
                        "\", allowed https://HOST[:PORT][/PATH] without user and password"};
  auto const executor = co_await asio::this_coro::executor;
  try {
    Exchange exchange{executor, std::move(request), options_};
    co_await exchange.wait();
    auto response = exchange.result();
    if (response) co_return std::move(*response);
    co_return within(url->origin(), as_lost(response.error()));
  } catch (boost::system::system_error const& problem) {
    bool const is_cancelled = problem.code() == asio::error::operation_aborted;
    co_return Error{is_cancelled ? ErrorCode::cancelled : ErrorCode::unavailable,
                    url->origin() + ": " + problem.code().message()};
  }
}

}  // namespace torchwatch::http
