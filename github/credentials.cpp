#include "github/credentials.h"

#include <system_error>

namespace torchwatch::github {
namespace {

/// Nothing when systemd passes no credential of that name.
std::optional<std::filesystem::path> credential(std::filesystem::path const& systemd,
                                                char const* name) {
  std::error_code ignored;
  if (systemd.empty() || !std::filesystem::exists(systemd / name, ignored)) return std::nullopt;
  return systemd / name;
}

}  // namespace

Result<Secret> find_token(config::GithubOptions const& options,
                          std::optional<std::string> const& environment,
                          std::filesystem::path const& systemd) {
  if (!options.token_file.empty()) return read_secret(options.token_file, "GitHub token");
  if (environment) return secret_in(*environment, "GitHub token in variable " + options.token_env);
  if (auto const file = credential(systemd, "github-token"))
    return read_secret(*file, "GitHub token");
  return Error{ErrorCode::not_found,
               "GitHub token: no token_file is configured, variable " + options.token_env +
                   " is not set, and systemd passes no credential github-token"};
}

Result<std::filesystem::path> find_app_key(config::GithubOptions const& options,
                                           std::filesystem::path const& systemd) {
  if (!options.app.private_key_file.empty())
    return std::filesystem::path{options.app.private_key_file};
  if (auto const file = credential(systemd, "github-app-key")) return *file;
  return Error{ErrorCode::not_found,
               "GitHub App: no github.app.private_key_file is configured, and systemd passes no "
               "credential github-app-key"};
}

}  // namespace torchwatch::github
