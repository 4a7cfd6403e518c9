#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "daemon/net/http_message.h"

namespace torchwatch::net {

/// Answers one request. What it throws becomes a 500 problem and one reported line.
using Handler = std::function<boost::asio::awaitable<HttpResponse>(HttpRequest)>;

/// Looks at a request before its body is read. What it returns is the answer; nothing: go on.
using Doorman = std::function<std::optional<HttpResponse>(HttpRequest const& head)>;

/// What clients are held to.
struct HttpServerOptions {
  Doorman doorman = [](HttpRequest const&) -> std::optional<HttpResponse> {
    return std::nullopt;
  };
  /// Request line and header fields together; more is a 431 problem.
  std::uint32_t header_bytes = 16 * 1024;
  /// More is a 413 problem, before it is read where the client announces it. Of a GET, a sixteenth.
  std::uint64_t body_bytes = 1024 * 1024;
  /// For a whole request to arrive, from the end of the one before. A client that takes longer is
  /// hung up on.
  std::chrono::milliseconds read_timeout{30'000};
  /// For a whole answer to be taken.
  std::chrono::milliseconds write_timeout{30'000};
  /// At a time; the next ones get a 503 problem.
  std::size_t connections = 256;
  /// The same of one client: an IPv4 address, or a network of 64 bits of IPv6.
  std::size_t connections_of_peer = 64;
  /// Of all, for clients on this machine alone, so that whoever looks after it gets in.
  std::size_t kept_for_loopback = 32;
  /// For answers in progress when the server stops; then their handlers are cancelled.
  std::chrono::milliseconds grace{5'000};
  /// Told one line about each failure that is ours. Must not throw.
  std::function<void(std::string const& line)> report = [](std::string const&) {
  };
};

/// Serves HTTP/1.1 with keep-alive until the coroutine is cancelled. Then it stops listening, hangs
/// up on idle clients, lets answers in progress be finished for `grace`, and returns when no
/// connection is left.
///
/// HEAD is asked of the handler as GET; every other method is the handler's to answer or to refuse.
/// Every answer carries Date, Content-Length and X-Content-Type-Options. Single-threaded: on the
/// caller's executor.
boost::asio::awaitable<void> serve_http(boost::asio::ip::tcp::acceptor acceptor,
                                        Handler handler,
                                        HttpServerOptions options = {});

}  // namespace torchwatch::net
