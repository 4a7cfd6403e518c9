#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/http/http_message.h"
#include "storage/base/clock.h"

namespace torchwatch::api {

/// Who may send which requests.
struct AccessOptions {
  /// The bearer token for requests that change something; empty: none is accepted.
  std::string token;
  /// The bearer token for requests that read, unless they carry `token`; empty: all may read.
  std::string read_token;
  /// Names by which clients call the service, in addition to this machine's own (net/host.h).
  std::vector<std::string> hosts;
  /// Whether a request for another host is refused. Off for Unix sockets, which no web page can
  /// call.
  bool checks_host = true;
};

/// Checks the host and the token of requests. Each check returns the response to send instead, or
/// nothing if the request is allowed. Tokens are compared in constant time. Not thread-safe.
class Authorization {
 public:
  /// `clock` must outlive it.
  Authorization(AccessOptions options, Clock const& clock)
      : options_{std::move(options)},
        clock_{clock} {}

  /// 421 unless the Host header names this machine: a page of another site cannot call the service.
  std::optional<http::HttpResponse> check_host(http::HttpRequest const& head) const;

  /// 401 or 403 without the token; 415 unless the body is JSON.
  std::optional<http::HttpResponse> check_write(http::HttpRequest const& head) const;

  /// 401 without the read token or the token, if there is a read token.
  std::optional<http::HttpResponse> check_read(http::HttpRequest const& head) const;

  /// Logs that a token for `path` was refused, at most once in ten seconds: a client may be
  /// guessing.
  void note_refused_token(std::string_view path);

 private:
  AccessOptions options_;
  Clock const& clock_;
  Timestamp last_noted_{};
  int refused_since_ = 0;
};

/// The value of a request's header; empty without one. `name` is in lower case.
std::string header_of(http::HttpRequest const& request, char const* name);

/// Status of a response that asks for a token.
inline constexpr int unauthorized = 401;

}  // namespace torchwatch::api
