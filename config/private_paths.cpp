#include "config/private_paths.h"

#include <filesystem>

namespace torchwatch::config {

std::vector<std::string> private_paths(Options const& options) {
  std::vector<std::string> paths;
  for (auto const& path : {options.state_dir,
                           options.http.token_file,
                           options.http.read_token_file,
                           options.http.tls.key,
                           options.github.token_file,
                           options.publish.webhook.secret_file,
                           options.github.app.private_key_file})
    if (!path.empty()) paths.push_back(std::filesystem::absolute(path).string());
  return paths;
}

}  // namespace torchwatch::config
