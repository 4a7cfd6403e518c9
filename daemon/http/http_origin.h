#pragma once

#include <chrono>
#include <string>

#include "daemon/http/http_message.h"
#include "storage/base/result.h"

namespace torchwatch::http {

/// The address of a service.
struct HttpOrigin {
  std::string url;  ///< "http://HOST:PORT", "https://HOST:PORT" or "unix:/PATH"
  /// For https: PEM file of the only certificate to trust. Its name and end date are not checked.
  /// Empty: a certificate for the host, by the authorities of the system or of the file in the
  /// variable SSL_CERT_FILE.
  std::string certificate{};
};

/// Reads an origin. Fails with invalid_argument if `url` has another form.
Result<HttpOrigin> parse_origin(std::string const& url);

/// Sends one HTTP request to our own service, without a proxy. Blocks for at most `limit`. Fails
/// with unavailable, naming origin and reason. For commands only: the service never calls it.
Result<HttpResponse> ask_http(HttpOrigin const& origin,
                              HttpRequest const& request,
                              std::chrono::seconds limit = std::chrono::seconds{30});

}  // namespace torchwatch::http
