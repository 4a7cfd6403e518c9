#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "config/options.h"
#include "storage/base/secret.h"

namespace torchwatch::github {

/// The token for GitHub: from `options.token_file` if one is named, else `environment`, which is
/// the value of the variable `options.token_env` as the caller read it, else from the file
/// "github-token" in `systemd`, the directory of systemd's credentials, which is empty when there
/// is none. Blanks around it are dropped. Fails with not_found when there is no token, with
/// invalid_argument when it is empty or holds blanks or control characters. Messages never show it.
Result<Secret> find_token(config::GithubOptions const& options,
                          std::optional<std::string> const& environment,
                          std::filesystem::path const& systemd = {});

/// The file with the private key of `options.app`: the named one, else "github-app-key" in
/// `systemd`. Fails with not_found when there is neither.
Result<std::filesystem::path> find_app_key(config::GithubOptions const& options,
                                           std::filesystem::path const& systemd);

}  // namespace torchwatch::github
