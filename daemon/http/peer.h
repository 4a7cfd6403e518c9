#pragma once

#include <string>

#include "daemon/http/socket.h"

namespace torchwatch::http {

/// The client at the other end of a connection, as the limits count it.
struct Peer {
  std::string name;          ///< an IPv4 address, a /64 network of IPv6, or a user of this machine
  bool is_loopback = false;  ///< on this machine
};

/// Returns the peer of an accepted connection. A client that has already left has no name.
Peer peer_of(Socket& socket);

}  // namespace torchwatch::http
