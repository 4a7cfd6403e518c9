#pragma once

#include <chrono>
#include <string>

#include "daemon/http/http_message.h"
#include "storage/base/result.h"

namespace torchwatch::http {

/// Where a service answers.
struct HttpOrigin {
  std::string url;  ///< "http://HOST:PORT", "https://HOST:PORT" or "unix:/PATH"
  /// Of https: a file with the very certificate that is expected, PEM, whatever name it has and
  /// whenever it ends. Empty: one for the host, by the system's authorities or those in the file
  /// that the variable SSL_CERT_FILE names.
  std::string certificate{};
};

/// invalid_argument when `url` is of another form.
Result<HttpOrigin> parse_origin(std::string const& url);

/// Sends one HTTP request to our own service, without a proxy; blocks, for at most `limit`.
/// `unavailable` names the origin and what went wrong. For commands only: the service itself never
/// calls it.
Result<HttpResponse> ask_http(HttpOrigin const& origin,
                              HttpRequest const& request,
                              std::chrono::seconds limit = std::chrono::seconds{30});

}  // namespace torchwatch::http
