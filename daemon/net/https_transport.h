#pragma once

#include <chrono>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ssl/context.hpp>

#include "daemon/net/proxy.h"
#include "github/transport.h"

namespace torchwatch::net {

struct HttpsOptions {
  /// Certificates to trust instead of the system's, PEM.
  std::string ca_file;
  /// From connecting to the last byte of the answer. Looking up the name is bounded by the system's
  /// resolver instead.
  std::chrono::seconds timeout{30};
  /// Through which proxy; the usual ones are proxy_rules().
  ProxyRules proxy{};
};

/// HTTPS over Beast: TLS 1.2 or newer, the server's certificate and name always verified, one
/// connection a request, answers of at most 16 MiB. Runs on the caller's executor; requests may run
/// side by side.
class HttpsTransport final : public github::Transport {
 public:
  /// Fails with invalid_argument when the certificates cannot be read.
  static Result<HttpsTransport> open(HttpsOptions options);

  /// Fails with invalid_argument when the URL is not https, with cancelled when the coroutine was
  /// cancelled, and with unavailable, naming host, step and proxy, when no answer came, also when a
  /// proxy refuses. The transport must outlive the coroutine.
  boost::asio::awaitable<Result<github::Response>> send(github::Request request) override;

 private:
  HttpsTransport(boost::asio::ssl::context context, HttpsOptions options);

  boost::asio::ssl::context context_;
  HttpsOptions options_;
};

}  // namespace torchwatch::net
