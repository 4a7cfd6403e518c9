#include "daemon/http/peer.h"

#include <algorithm>
#include <cstring>

#include <boost/asio/ip/tcp.hpp>
#include <sys/socket.h>

namespace torchwatch::http {

namespace asio = boost::asio;

namespace {

Peer user_at(Socket& socket) {
  ucred user{};
  socklen_t size = sizeof user;
  if (::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &user, &size) != 0)
    return {"", true};
  return {"user " + std::to_string(user.uid), true};
}

Peer host_at(asio::ip::address address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  if (!address.is_v6()) return {address.to_string(), address.is_loopback()};
  auto bytes = address.to_v6().to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), static_cast<unsigned char>(0));
  return {asio::ip::make_address_v6(bytes).to_string(), address.is_loopback()};
}

}  // namespace

Peer peer_of(Socket& socket) {
  boost::system::error_code gone;
  auto const end = socket.remote_endpoint(gone);
  if (gone) return {};
  if (end.protocol().family() == AF_UNIX) return user_at(socket);
  asio::ip::tcp::endpoint place;
  std::memcpy(place.data(), end.data(), std::min(end.size(), place.capacity()));
  return host_at(place.address());
}

}  // namespace torchwatch::http
