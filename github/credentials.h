#pragma once

#include <optional>
#include <string>

#include "config/options.h"
#include "storage/base/secret.h"

namespace torchwatch::github {

/// The token for GitHub: from `options.token_file` if one is named, else `environment`, which is
/// the value of the variable `options.token_env` as the caller read it. Blanks around it are
/// dropped. Fails with not_found when there is no token, with invalid_argument when it is empty or
/// holds blanks or control characters. Messages never show it.
Result<Secret> find_token(config::GithubOptions const& options,
                          std::optional<std::string> const& environment);

}  // namespace torchwatch::github
