#include "config/address.h"

#include <optional>
#include <string_view>

#include <arpa/inet.h>
#include <sys/un.h>

namespace torchwatch::config {
namespace {

constexpr std::string_view unix_scheme = "unix:";

/// The longest path of a socket, with its null character.
constexpr std::size_t room_for_path = sizeof(sockaddr_un::sun_path);

/// Returns a numeric address as IPv6. IPv4 addresses are mapped.
std::optional<in6_addr> numeric(std::string const& text) {
  in_addr v4{};
  in6_addr address{};
  bool const is_v4 = ::inet_pton(AF_INET, text.c_str(), &v4) == 1;
  auto const as_v6 = is_v4 ? "::ffff:" + text : text;
  if (::inet_pton(AF_INET6, as_v6.c_str(), &address) != 1) return std::nullopt;
  return address;
}

}  // namespace

bool is_address(std::string const& text) {
  auto const path = socket_path(text);
  if (path.empty()) return numeric(text).has_value();
  return path.starts_with('/') && path.size() < room_for_path;
}

std::string socket_path(std::string const& address) {
  return address.starts_with(unix_scheme) ? address.substr(unix_scheme.size()) : std::string{};
}

bool is_on_this_machine(std::string const& address) {
  if (!socket_path(address).empty()) return true;
  auto const found = numeric(address);
  if (!found) return false;
  constexpr unsigned char loopback_network = 127;
  bool const is_v4 = IN6_IS_ADDR_V4MAPPED(&*found);
  return is_v4 ? found->s6_addr[12] == loopback_network : IN6_IS_ADDR_LOOPBACK(&*found);
}

}  // namespace torchwatch::config
