#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "daemon/http/http_origin.h"
#include "storage/base/result.h"

namespace torchwatch::cli {

/// Returns the body of a successful reply; otherwise the error that the service reported.
Result<std::string> body_of(http::HttpResponse const& answer);

/// Parses the JSON of a reply.
Result<nlohmann::ordered_json> parsed(Result<std::string> const& text);

/// A running service that is reached over HTTP. Error messages are for people.
class Server {
 public:
  /// `url` is an address such as "http://127.0.0.1:8917" (see http::parse_origin). `token_file`
  /// holds the bearer token; without a token, the service denies requests that change something.
  static Result<Server> at(std::string const& url, std::string const& token_file);

  Result<nlohmann::ordered_json> get(std::string const& path) const;
  Result<std::string> get_text(std::string const& path) const;
  Result<nlohmann::ordered_json> post(std::string const& path,
                                      nlohmann::ordered_json const& body) const;

 private:
  Server(http::HttpOrigin origin, std::string token);

  http::HttpOrigin origin_;
  std::string token_;
};

}  // namespace torchwatch::cli
