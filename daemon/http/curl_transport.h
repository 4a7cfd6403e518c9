#pragma once

#include <boost/asio/awaitable.hpp>

#include "github/transport.h"
#include "http/client.h"

namespace torchwatch::http {

/// HTTPS over http::Client: each request on a thread and a connection of its own. The coroutine
/// resumes on its executor; requests may run side by side.
class CurlTransport final : public github::Transport {
 public:
  explicit CurlTransport(torchwatch::http::Options options);

  /// Fails with invalid_argument when the URL is not https or the certificates cannot be read, with
  /// cancelled when the coroutine was cancelled, and with unavailable, naming host, step and proxy,
  /// when no answer came, also when a proxy refuses or a certificate is not trusted. The thread has
  /// ended when the coroutine resumes or is destroyed, which interrupts a request in progress. The
  /// transport must outlive the coroutine.
  boost::asio::awaitable<Result<github::Response>> send(github::Request request) override;

 private:
  torchwatch::http::Options options_;
};

}  // namespace torchwatch::http
