#pragma once

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "daemon/cli/commands.h"
#include "storage/base/result.h"

namespace CLI {
class App;
}

namespace torchwatch::cli {

/// A client of the HTTP API: of a running service, or of this program itself, which then reads the
/// database that the configuration names. Reading works while a service uses that database.
/// Error messages are for people.
class ApiClient {
 public:
  /// Connects to the service at http(s)://HOST:PORT or unix:/PATH. With an empty `server`, opens
  /// the configured database.
  static Result<ApiClient> of(std::string const& server,
                              std::string const& token_file,
                              Invocation const& invocation);

  Result<nlohmann::ordered_json> get(std::string const& path) const;
  Result<std::string> get_text(std::string const& path) const;

  /// Returns all items of a list whose replies are pages.
  Result<nlohmann::ordered_json> get_all(std::string const& path) const;

 private:
  using Ask = std::function<Result<std::string>(std::string const& path)>;

  explicit ApiClient(Ask ask) : ask_{std::move(ask)} {}

  Ask ask_;
};

}  // namespace torchwatch::cli
