#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/http/http_message.h"
#include "storage/base/clock.h"

namespace torchwatch::api {

/// The tokens and host names that allow requests.
struct AccessOptions {
  /// The bearer token for requests that change something. Empty: all such requests are refused.
  std::string token;
  /// The bearer token for requests that read; `token` works, too. Empty: all clients may read.
  std::string read_token;
  /// Host names of the service, in addition to this machine's own (daemon/http/host.h).
  std::vector<std::string> hosts;
  /// True: requests with another Host are refused. False for Unix sockets, which web pages cannot
  /// reach.
  bool checks_host = true;
};

/// Checks the host and the token of requests. Each check returns the response that refuses the
/// request, or nothing if it is allowed. Compares tokens in constant time. Not thread-safe.
class Authorization {
 public:
  /// `clock` must outlive it.
  Authorization(AccessOptions options, Clock const& clock)
      : options_{std::move(options)},
        clock_{clock} {}

  /// Returns 421 unless the Host header names this machine, so that web pages of other sites cannot
  /// call the service.
  std::optional<http::HttpResponse> check_host(http::HttpRequest const& head) const;

  /// Returns 401 or 403 without the token, and 415 unless the body is JSON.
  std::optional<http::HttpResponse> check_write(http::HttpRequest const& head) const;

  /// Returns 401 without one of the tokens, if there is a read token.
  std::optional<http::HttpResponse> check_read(http::HttpRequest const& head) const;

  /// Logs that a token for `path` was refused, at most once in 10 s, since a client may be guessing
  /// tokens.
  void note_refused_token(std::string_view path);

 private:
  AccessOptions options_;
  Clock const& clock_;
  Timestamp last_noted_{};
  int refused_since_ = 0;
};

/// Returns the value of a header, or "" without one. `name` is in lower case.
std::string header_of(http::HttpRequest const& request, char const* name);

/// Status of a response that requires a token.
inline constexpr int unauthorized = 401;

}  // namespace torchwatch::api
