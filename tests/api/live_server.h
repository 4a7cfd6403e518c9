#pragma once

#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>

#include "daemon/net/http_server.h"

namespace torchwatch::tests {

/// serve_http on a free loopback port, on a thread of its own.
class LiveServer {
 public:
  explicit LiveServer(net::Handler handler, net::HttpServerOptions options = {})
      : acceptor_{loop_, {boost::asio::ip::address_v4::loopback(), 0}},
        port_{acceptor_.local_endpoint().port()} {
    options.report = [this](std::string const& line) {
      std::scoped_lock const lock{mutex_};
      reports_.push_back(line);
    };
    auto finished = [this](std::exception_ptr failure) {
      failure_ = std::move(failure);
    };
    boost::asio::co_spawn(
        loop_,
        net::serve_http(std::move(acceptor_), std::move(handler), std::move(options)),
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
  boost::asio::ip::tcp::acceptor acceptor_;
  std::uint16_t port_;
  boost::asio::cancellation_signal stop_;
  std::exception_ptr failure_;  // written on the loop's thread, read after it was joined
  std::thread thread_;
  std::mutex mutex_;
  std::vector<std::string> reports_;  // under mutex_
};

}  // namespace torchwatch::tests
