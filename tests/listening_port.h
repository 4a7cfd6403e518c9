#pragma once

#include <stdexcept>
#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace torchwatch::tests {

/// A port of 127.0.0.1 at which a socket listens, but accepts no connection. Programs that this one
/// starts do not inherit the socket.
class ListeningPort {
 public:
  /// Throws std::runtime_error when it cannot listen.
  ListeningPort() : socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_, any, size) != 0 || ::listen(socket_, 5) != 0 ||
        ::getsockname(socket_, any, &size) != 0)
      throw std::runtime_error{"cannot listen"};
    port_ = ::ntohs(address.sin_port);
  }

  ListeningPort(ListeningPort const&) = delete;
  ListeningPort& operator=(ListeningPort const&) = delete;

  ~ListeningPort() { ::close(socket_); }

  std::string text() const { return std::to_string(port_); }

 private:
  int socket_;
  int port_ = 0;
};

}  // namespace torchwatch::tests
