#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "daemon/http/http_origin.h"
#include "tests/e2e/process.h"
#include "tests/e2e/world.h"

namespace torchwatch::e2e {

/// A running `torchwatch serve`, killed with this object.
class Service {
 public:
  /// Gives the world a token for changing requests, starts the service, and returns when /healthz
  /// answers. Throws when it does not.
  explicit Service(World& world);

  std::string const& url() const { return url_; }

  std::string token_file() const;

  /// The JSON of a good answer. Throws otherwise.
  nlohmann::json get(std::string const& target) const;

  /// With the token.
  http::HttpResponse post(std::string const& target, nlohmann::json const& body) const;

  Process& process() { return process_; }

 private:
  Process start();
  std::string listening_at() const;

  World& world_;
  Process process_;
  std::string url_;
};

/// Where a service said that it listens; empty until then.
std::string listening_url(std::string const& log);

/// Whether a GET of `url` + `target` is answered with 200.
bool answers(std::string const& url, std::string const& target);

}  // namespace torchwatch::e2e
