#pragma once

#include <chrono>
#include <string>

#include "daemon/net/http_message.h"
#include "storage/domain/result.h"

namespace torchwatch::net {

/// "http://HOST:PORT", taken apart.
struct HttpOrigin {
  std::string host;
  std::string port;
};

/// invalid_argument when `url` is of another form.
Result<HttpOrigin> parse_origin(std::string const& url);

/// One plain HTTP request to our own service; blocks, for at most `limit`. `unavailable` names
/// host, port and what went wrong. For commands only: the service itself never calls it.
Result<HttpResponse> ask_http(HttpOrigin const& origin,
                              HttpRequest const& request,
                              std::chrono::seconds limit = std::chrono::seconds{30});

}  // namespace torchwatch::net
