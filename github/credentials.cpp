#include "github/credentials.h"

namespace torchwatch::github {

Result<Secret> find_token(config::GithubOptions const& options,
                          std::optional<std::string> const& environment) {
  if (!options.token_file.empty()) return read_secret(options.token_file, "GitHub token");
  if (environment) return secret_in(*environment, "GitHub token in variable " + options.token_env);
  return Error{ErrorCode::not_found,
               "GitHub token: no token_file is configured and variable " + options.token_env +
                   " is not set"};
}

}  // namespace torchwatch::github
