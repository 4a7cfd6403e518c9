#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "daemon/http/http_origin.h"
#include "storage/base/result.h"

namespace torchwatch::cli {

/// What a good answer holds; the problem's text otherwise.
Result<std::string> body_of(http::HttpResponse const& answer);

/// JSON that came as text.
Result<nlohmann::ordered_json> parsed(Result<std::string> const& text);

/// A running service, asked over HTTP. Errors are fit to be printed.
class Server {
 public:
  /// `url`: "http://127.0.0.1:8917", or as http::parse_origin has it. `token_file` holds the bearer
  /// token; without one nothing can be changed.
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
