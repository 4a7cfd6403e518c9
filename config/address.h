#pragma once

#include <string>

/// Addresses on which a service listens: an IPv4 or IPv6 address, or "unix:/PATH", the socket at an
/// absolute path.
namespace torchwatch::config {

/// True when `text` is such an address. Linux limits the path of a socket to 107 bytes.
bool is_address(std::string const& text);

/// Returns the path of a Unix socket, or an empty text for other addresses.
std::string socket_path(std::string const& address);

/// True when only this machine can connect: for a loopback address or a Unix socket.
bool is_on_this_machine(std::string const& address);

}  // namespace torchwatch::config
