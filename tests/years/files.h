#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "storage/base/result.h"

namespace torchwatch::years {

/// Writes torchwatch.json into `out`, with an empty feed and a repository. The repository's remote
/// is unreachable, so that bisections wait. Fails with unavailable.
Result<> write_files(std::filesystem::path const& out,
                     std::vector<std::string> const& models,
                     std::vector<std::string> const& fleets);

/// Copies the database and state/ of a service from `world` to `state`. Libraries of builds become
/// sparse files of the original size. Throws filesystem_error.
void copy_state(std::filesystem::path const& world, std::filesystem::path const& state);

}  // namespace torchwatch::years
