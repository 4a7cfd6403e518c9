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

/// Where clients call, over TCP or a Unix socket; they can from the moment it is made.
class Listener {
 public:
  using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol>;

  /// `address`: IPv4 or IPv6. `port` 0: any free one. Fails with unavailable when somebody
  /// listens there, with refused when it cannot be for another reason; names both.
  static Result<Listener> at_address(boost::asio::any_io_executor const& executor,
                                     std::string const& address,
                                     std::uint16_t port);

  /// See SocketFile. Fails in the same way, naming the path.
  static Result<Listener> at_path(boost::asio::any_io_executor const& executor,
                                  std::string const& path);

  /// Gives each client's Socket.
  Acceptor& acceptor() { return acceptor_; }

  /// 0 of a Unix socket.
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
