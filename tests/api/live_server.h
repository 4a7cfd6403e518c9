#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "daemon/http/http_server.h"

namespace torchwatch::tests {

/// Opens the endpoint of a server.
using MakeEndpoint = std::function<http::Endpoint(boost::asio::any_io_executor const&)>;

/// Returns an endpoint at a free port of this machine, in plain text.
inline http::Endpoint plain_endpoint(boost::asio::any_io_executor const& executor) {
  return {http::Listener::at_address(executor, "127.0.0.1", 0).value(), std::nullopt};
}

/// serve_http on its own thread.
class LiveServer {
 public:
  explicit LiveServer(http::Handler handler,
                      http::HttpServerOptions options = {},
                      MakeEndpoint const& make_endpoint = plain_endpoint) {
    auto endpoint = make_endpoint(loop_.get_executor());
    port_ = endpoint.listener.port();
    options.report = [this](std::string const& line) {
      std::scoped_lock const lock{mutex_};
      reports_.push_back(line);
    };
    auto finished = [this](std::exception_ptr failure) {
      failure_ = std::move(failure);
    };
    boost::asio::co_spawn(
        loop_,
        http::serve_http(std::move(endpoint), std::move(handler), std::move(options)),
        boost::asio::bind_cancellation_slot(stop_.slot(), std::move(finished)));
    thread_ = std::thread{[this] {
      loop_.run();
    }};
  }

  LiveServer(LiveServer const&) = delete;
  LiveServer& operator=(LiveServer const&) = delete;

  ~LiveServer() { wait(); }

  std::uint16_t port() const { return port_; }

  void cancel() {
    boost::asio::post(loop_, [this] { stop_.emit(boost::asio::cancellation_type::terminal); });
  }

  /// Cancels, waits for the end, and returns what the server threw.
  std::exception_ptr wait() {
    cancel();
    if (thread_.joinable()) thread_.join();
    return failure_;
  }

  std::vector<std::string> reports() {
    std::scoped_lock const lock{mutex_};
    return reports_;
  }

 private:
  boost::asio::io_context loop_{1};
  std::uint16_t port_ = 0;
  boost::asio::cancellation_signal stop_;
  std::exception_ptr failure_;  // written on the loop's thread, read after it was joined
  std::thread thread_;
  std::mutex mutex_;
  std::vector<std::string> reports_;  // guarded by mutex_
};

}  // namespace torchwatch::tests
