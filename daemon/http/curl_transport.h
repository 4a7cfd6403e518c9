#pragma once

#include <boost/asio/awaitable.hpp>

#include "github/transport.h"
#include "http/client.h"

namespace torchwatch::http {

/// HTTPS over http::Client. Each request has its own thread and connection. The coroutine resumes
/// on its executor. Requests may run concurrently.
class CurlTransport final : public github::Transport {
 public:
  explicit CurlTransport(torchwatch::http::Options options);

  /// Sends a request. Errors:
  /// - invalid_argument: the URL is not https, or the certificates cannot be read.
  /// - cancelled: the coroutine was cancelled.
  /// - unavailable: no response, for example because a proxy refused or a certificate is not
  ///   trusted. The message names host, step and proxy.
  ///
  /// The thread has ended when the coroutine resumes or is destroyed. Destroying the coroutine ends
  /// its request. The transport must outlive the coroutine.
  boost::asio::awaitable<Result<github::Response>> send(github::Request request) override;

 private:
  torchwatch::http::Options options_;
};

}  // namespace torchwatch::http
