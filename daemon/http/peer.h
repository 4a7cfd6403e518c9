#pragma once

#include <string>

#include "daemon/http/socket.h"

namespace torchwatch::http {

/// Who is at the other end, as far as it counts as one client.
struct Peer {
  std::string name;  ///< an IPv4 address, an IPv6 network of 64 bits, a user of this machine
  bool is_loopback = false;  ///< on this machine
};

/// Of a connection that was accepted. A client that has left already has no name.
Peer peer_of(Socket& socket);

}  // namespace torchwatch::http
