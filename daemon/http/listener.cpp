#include "daemon/http/listener.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <fcntl.h>
#include <unistd.h>

namespace torchwatch::http {

namespace asio = boost::asio;
using asio::ip::tcp;
using asio::local::stream_protocol;
using boost::system::error_code;

Result<Listener> Listener::at_address(asio::any_io_executor const& executor,
                                      std::string const& address,
                                      std::uint16_t port) {
  error_code failed;
  tcp::endpoint const place{asio::ip::make_address(address, failed), port};
  tcp::acceptor acceptor{executor};
  if (!failed) acceptor.open(place.protocol(), failed);
  if (!failed) acceptor.set_option(asio::socket_base::reuse_address{true}, failed);
  if (!failed) acceptor.bind(place, failed);
  if (!failed) acceptor.listen(asio::socket_base::max_listen_connections, failed);
  if (failed) {
    bool const is_taken = failed == asio::error::address_in_use;
    return Error{is_taken ? ErrorCode::unavailable : ErrorCode::refused,
                 address + " port " + std::to_string(port) + ": " + failed.message()};
  }
  auto const taken = acceptor.local_endpoint().port();
  return Listener{Acceptor{std::move(acceptor)}, taken, std::nullopt};
}

Result<Listener> Listener::at_path(asio::any_io_executor const& executor, std::string const& path) {
  stream_protocol::acceptor acceptor{executor};
  acceptor.open();
  auto file = SocketFile::bind(acceptor, path);
  if (!file) return file.error();
  error_code failed;
  acceptor.listen(asio::socket_base::max_listen_connections, failed);
  if (failed) return Error{ErrorCode::refused, "unix:" + path + ": " + failed.message()};
  return Listener{Acceptor{std::move(acceptor)}, 0, std::move(*file)};
}

Result<Listener> Listener::duplicate(asio::any_io_executor const& executor) {
  error_code failed;
  auto const place = acceptor_.local_endpoint(failed);
  if (failed) return Error{ErrorCode::unavailable, "listening socket: " + failed.message()};
  int const copy = ::fcntl(acceptor_.native_handle(), F_DUPFD_CLOEXEC, 0);
  if (copy < 0)
    return Error{ErrorCode::unavailable, std::string{"listening socket: "} + std::strerror(errno)};
  Acceptor acceptor{executor};
  acceptor.assign(place.protocol(), copy, failed);
  if (failed) ::close(copy);
  if (failed) return Error{ErrorCode::unavailable, "listening socket: " + failed.message()};
  return Listener{std::move(acceptor), port_, std::nullopt};
}

}  // namespace torchwatch::http
