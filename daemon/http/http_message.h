#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

namespace torchwatch::http {

/// Header fields by name in lower case.
using HttpHeaders = std::map<std::string, std::string>;

/// One request, as handlers get it.
struct HttpRequest {
  std::string method;   ///< "GET", "POST", ...; "GET" for a HEAD request
  std::string target;   ///< path and query as sent, still percent-encoded
  HttpHeaders headers;  ///< repeated fields are joined with ", "
  std::string body;
};

struct HttpResponse {
  int status = 200;
  HttpHeaders headers;
  std::string body;  ///< set this to respond; read the response with text()
  /// Returns the next piece after the body of a response without an end; "" ends it. Such a
  /// response is the last of its connection. It is cancelled when the client leaves or the server
  /// stops.
  std::function<boost::asio::awaitable<std::string>()> more{};
  /// Replaces `body` if set: one text that many responses share.
  std::shared_ptr<std::string const> shared_body{};

  /// Returns the body that is sent.
  std::string const& text() const { return shared_body ? *shared_body : body; }
};

/// One error in a request.
struct FieldError {
  std::string field;   ///< "threshold", "benchmarks[2]", "limit"
  std::string detail;  ///< "found 7, allowed ..."
};

/// Returns a response that reports a problem (RFC 9457): application/problem+json with type, title,
/// status, detail, and the first 100 `errors` if there are any.
HttpResponse problem(int status,
                     std::string const& detail,
                     std::vector<FieldError> const& errors = {});

}  // namespace torchwatch::http
