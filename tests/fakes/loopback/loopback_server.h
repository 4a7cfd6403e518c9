#pragma once

#include <cstdint>
#include <functional>
#include <thread>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace torchwatch::fakes {

/// A server that accepts connections on 127.0.0.1, on its own thread, until it is destroyed.
class LoopbackServer {
 public:
  /// Serves one connection, on the server's thread. A system_error ends only this connection.
  using Session = std::function<boost::asio::awaitable<void>(boost::asio::ip::tcp::socket)>;

  /// Port 0 selects any free port. Objects that `session` refers to must outlive the server. Throws
  /// system_error when it cannot listen.
  explicit LoopbackServer(Session session, std::uint16_t port = 0);
  LoopbackServer(LoopbackServer const&) = delete;
  LoopbackServer& operator=(LoopbackServer const&) = delete;
  ~LoopbackServer();

  std::uint16_t port() const { return port_; }

 private:
  Session session_;
  boost::asio::io_context loop_{1};
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace torchwatch::fakes
