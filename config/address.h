#pragma once

#include <string>

/// Where a service may listen: an IPv4 or IPv6 address, or "unix:/PATH", the socket at an absolute
/// path.
namespace torchwatch::config {

/// Whether `text` is one of these. A socket's path has at most 107 bytes, as Linux has it.
bool is_address(std::string const& text);

/// The path of a Unix socket; empty for every other address.
std::string socket_path(std::string const& address);

/// Whether nobody but this machine can call: a loopback address or a Unix socket.
bool is_on_this_machine(std::string const& address);

}  // namespace torchwatch::config
