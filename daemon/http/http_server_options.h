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

/// Answers one request. What it throws becomes a 500 problem and one reported line.
using Handler = std::function<boost::asio::awaitable<HttpResponse>(HttpRequest)>;

/// Looks at a request before its body is read. What it returns is the answer; nothing: go on.
using Precheck = std::function<std::optional<HttpResponse>(HttpRequest const& head)>;

/// What clients are held to.
struct HttpServerOptions {
  Precheck precheck = [](HttpRequest const&) -> std::optional<HttpResponse> {
    return std::nullopt;
  };
  /// Request line and header fields together; more is a 431 problem.
  std::uint32_t header_bytes = 16 * 1024;
  /// More is a 413 problem, before it is read where the client announces it. Of a GET, a sixteenth.
  std::uint64_t body_bytes = 1024 * 1024;
  /// For the whole TLS handshake. A client that takes longer is hung up on.
  std::chrono::milliseconds handshake_timeout{10'000};
  /// For a whole request to arrive, from the end of the one before. A client that takes longer is
  /// hung up on.
  std::chrono::milliseconds read_timeout{30'000};
  /// For a whole answer to be taken.
  std::chrono::milliseconds write_timeout{30'000};
  /// At a time, those that shake hands included; the next ones get a 503 problem, or, where an
  /// answer would take a TLS handshake, are hung up on.
  std::size_t connections = 256;
  /// The same of one client: an IPv4 address, a network of 64 bits of IPv6, or a user who calls at
  /// a Unix socket.
  std::size_t connections_of_peer = 64;
  /// Answers without an end at a time, such as server-sent events. Their connections do not count
  /// towards `connections`. The next ones get a 503 problem, and are hung up on.
  std::size_t listeners = 256;
  /// The same of one client. A proxy is one client, whoever asks through it.
  std::size_t listeners_of_peer = 128;
  /// Of all connections and of all listeners, for clients on this machine alone, so that an
  /// administrator gets in.
  std::size_t kept_for_loopback = 32;
  /// For answers in progress when the server stops; then their handlers are cancelled.
  std::chrono::milliseconds grace{5'000};
  /// Told one line about each failure that is ours. Must not throw.
  std::function<void(std::string const& line)> report = [](std::string const&) {
  };
};

}  // namespace torchwatch::http
