#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "daemon/http/http_origin.h"
#include "tests/e2e/process.h"
#include "tests/e2e/world.h"

namespace torchwatch::e2e {

/// A running `torchwatch serve`. It is killed when this object is destroyed.
class Service {
 public:
  /// Configures a token for changing requests, starts the service, and waits until /healthz
  /// answers. Throws when it does not.
  explicit Service(World& world);

  std::string const& url() const { return url_; }

  std::string token_file() const;

  /// Sends a GET request. Returns the JSON of a response with status 200; throws for any other.
  nlohmann::json get(std::string const& target) const;

  /// Sends a POST request with the token. Returns any response.
  http::HttpResponse post(std::string const& target, nlohmann::json const& body) const;

  Process& process() { return process_; }

 private:
  Process start();
  std::string listening_at() const;

  World& world_;
  Process process_;
  std::string url_;
};

/// Returns the URL at which a service listens, from its log; empty until it is logged.
std::string listening_url(std::string const& log);

/// True when a GET request for `url` + `target` is answered with status 200.
bool answers(std::string const& url, std::string const& target);

}  // namespace torchwatch::e2e
