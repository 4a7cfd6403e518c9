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

/// One request as a handler sees it.
struct HttpRequest {
  std::string method;   ///< "GET", "POST", ...; a HEAD request comes as "GET"
  std::string target;   ///< path and query as sent, still percent-encoded
  HttpHeaders headers;  ///< a field that came several times is joined with ", "
  std::string body;
};

struct HttpResponse {
  int status = 200;
  HttpHeaders headers;
  std::string body;  ///< to be written; whoever reads an answer asks for text()
  /// Of an answer without an end: what follows the body, piece by piece, until one is empty. It is
  /// its connection's last, and is cancelled when the client leaves or the server stops.
  std::function<boost::asio::awaitable<std::string>()> more{};
  /// In place of `body`: one text for the many answers that say the same.
  std::shared_ptr<std::string const> shared_body{};

  /// What is sent.
  std::string const& text() const { return shared_body ? *shared_body : body; }
};

/// One thing that is wrong with a request.
struct FieldError {
  std::string field;   ///< "threshold", "benchmarks[2]", "limit"
  std::string detail;  ///< "found 7, allowed ..."
};

/// An answer that says what is wrong, as RFC 9457 has it: application/problem+json with type,
/// title, status, detail and, where there are any, `errors`; of a great many errors the first
/// hundred.
HttpResponse problem(int status,
                     std::string const& detail,
                     std::vector<FieldError> const& errors = {});

}  // namespace torchwatch::http
