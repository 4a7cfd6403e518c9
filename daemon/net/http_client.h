#pragma once

#include <chrono>
#include <string>

#include "daemon/net/http_message.h"
#include "storage/domain/result.h"

namespace torchwatch::net {

/// Where a service answers, taken apart: "http://HOST:PORT", "https://HOST:PORT", "unix:/PATH".
struct HttpOrigin {
  enum class Way { plain, tls, unix_socket };

  Way way = Way::plain;
  std::string host;  ///< a name or an address, without brackets; of a Unix socket, its path
  std::string port;  ///< of a Unix socket: none
  /// Of TLS: a file with the very certificate that is expected, PEM, whatever name it has and
  /// whenever it ends. Empty: one for `host`, by the system's authorities or those in the file
  /// that the variable SSL_CERT_FILE names.
  std::string certificate;
};

/// invalid_argument when `url` is of another form.
Result<HttpOrigin> parse_origin(std::string const& url);

/// The form that parse_origin takes.
std::string url_of(HttpOrigin const& origin);

/// One HTTP request to our own service; blocks, for at most `limit`. `unavailable` names the place
/// and what went wrong. For commands only: the service itself never calls it.
Result<HttpResponse> ask_http(HttpOrigin const& origin,
                              HttpRequest const& request,
                              std::chrono::seconds limit = std::chrono::seconds{30});

}  // namespace torchwatch::net
