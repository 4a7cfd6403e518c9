#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "daemon/http/http_message.h"

namespace torchwatch::http {

/// Answers one request. An exception becomes a 500 problem and one reported line.
using Handler = std::function<boost::asio::awaitable<HttpResponse>(HttpRequest)>;

/// Checks a request before its body is read. Returns the response, or nothing to continue.
using Precheck = std::function<std::optional<HttpResponse>(HttpRequest const& head)>;

/// The limits of clients, and the callbacks of a server.
struct HttpServerOptions {
  Precheck precheck = [](HttpRequest const&) -> std::optional<HttpResponse> {
    return std::nullopt;
  };
  /// Limit of request line and header fields together. More is a 431 problem.
  std::uint32_t header_bytes = 16 * 1024;
  /// Limit of a body; of a GET, a sixteenth of it. More is a 413 problem, before the body is read
  /// if the client announces its length.
  std::uint64_t body_bytes = 1024 * 1024;
  /// Limit of the whole TLS handshake. The connection of a slower client is closed.
  std::chrono::milliseconds handshake_timeout{10'000};
  /// Limit from the end of one request to the end of the next. The connection of a slower client is
  /// closed.
  std::chrono::milliseconds read_timeout{30'000};
  /// Limit of sending a whole response.
  std::chrono::milliseconds write_timeout{30'000};
  /// Connections at a time, including those in a handshake. Further ones get a 503 problem. With
  /// TLS they are closed instead, since a response needs a handshake.
  std::size_t connections = 256;
  /// Connections of one client at a time. A client is an IPv4 address, a /64 network of IPv6, or a
  /// user of a Unix socket.
  std::size_t connections_of_peer = 64;
  /// Responses without an end at a time, such as server-sent events. They do not count towards
  /// `connections`. Further ones get a 503 problem, and their connections are closed.
  std::size_t listeners = 256;
  /// Responses without an end of one client at a time. All users of a proxy are one client.
  std::size_t listeners_of_peer = 128;
  /// The share of connections, and of listeners, for clients on this machine only, so that an
  /// operator can always connect.
  std::size_t kept_for_loopback = 32;
  /// Time for responses in progress when the server stops. Then their handlers are cancelled.
  std::chrono::milliseconds grace{5'000};
  /// Gets one line about each failure of the server. Must not throw.
  std::function<void(std::string const& line)> report = [](std::string const&) {
  };
};

}  // namespace torchwatch::http
