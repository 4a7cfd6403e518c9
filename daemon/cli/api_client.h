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

/// What the HTTP API answers to a path: a running service's, or this program's own from the store
/// of its configuration, beside a running service, too. Errors are fit to be printed.
class ApiClient {
 public:
  /// Of a service at http(s)://HOST:PORT or unix:/PATH; an empty `server` is the store's.
  static Result<ApiClient> of(std::string const& server,
                              std::string const& token_file,
                              Invocation const& invocation);

  Result<nlohmann::ordered_json> get(std::string const& path) const;
  Result<std::string> get_text(std::string const& path) const;

  /// All items of a list that comes in pages.
  Result<nlohmann::ordered_json> get_all(std::string const& path) const;

 private:
  using Ask = std::function<Result<std::string>(std::string const& path)>;

  explicit ApiClient(Ask ask) : ask_{std::move(ask)} {}

  Ask ask_;
};

}  // namespace torchwatch::cli
