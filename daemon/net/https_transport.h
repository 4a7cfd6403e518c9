#pragma once

#include <chrono>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ssl/context.hpp>

#include "github/transport.h"

namespace torchwatch::net {

struct HttpsOptions {
  /// Certificates to trust instead of the system's, PEM.
  std::string ca_file;
  /// From connecting to the last byte of the answer. Looking up the name is bounded by the system's
  /// resolver instead.
  std::chrono::seconds timeout{30};
};

/// HTTPS over Beast: TLS 1.2 or newer, the server's certificate and name always verified, one
/// connection a request, answers of at most 16 MiB. Runs on the caller's executor; requests may run
/// side by side.
class HttpsTransport final : public github::Transport {
 public:
  /// Fails with invalid_argument when the certificates cannot be read.
  static Result<HttpsTransport> open(HttpsOptions options);

  /// Fails with invalid_argument when the URL is not https, with cancelled when the coroutine was
  /// cancelled, and with unavailable, naming host and step, when no answer came. The transport must
  /// outlive the coroutine.
  boost::asio::awaitable<Result<github::Response>> send(github::Request request) override;

 private:
  HttpsTransport(boost::asio::ssl::context context, std::chrono::seconds timeout);

  boost::asio::ssl::context context_;
  std::chrono::seconds timeout_;
};

}  // namespace torchwatch::net
