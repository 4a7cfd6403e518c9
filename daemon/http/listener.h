#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include "daemon/http/socket_file.h"
#include "storage/base/result.h"

namespace torchwatch::http {

/// A listening socket, TCP or Unix. Clients can connect as soon as it exists.
class Listener {
 public:
  using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol>;

  /// Listens at an IPv4 or IPv6 `address`. `port` 0 is any free port. Fails with unavailable if the
  /// port is in use, and with refused for other reasons. The message names address and port.
  static Result<Listener> at_address(boost::asio::any_io_executor const& executor,
                                     std::string const& address,
                                     std::uint16_t port);

  /// Listens at a Unix socket. Fails as SocketFile::bind does, naming the path.
  static Result<Listener> at_path(boost::asio::any_io_executor const& executor,
                                  std::string const& path);

  /// Returns another listener of the same socket, for another loop. Clients that connect stay in
  /// one queue. The file of a Unix socket stays with this one. Fails with unavailable when no
  /// descriptor is left.
  Result<Listener> duplicate(boost::asio::any_io_executor const& executor);

  /// Accepts the Socket of each client.
  Acceptor& acceptor() { return acceptor_; }

  /// The TCP port; 0 for a Unix socket.
  std::uint16_t port() const { return port_; }

 private:
  Listener(Acceptor acceptor, std::uint16_t port, std::optional<SocketFile> file)
      : acceptor_{std::move(acceptor)},
        port_{port},
        file_{std::move(file)} {}

  Acceptor acceptor_;
  std::uint16_t port_;
  std::optional<SocketFile> file_;
};

}  // namespace torchwatch::http
