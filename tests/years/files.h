#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "storage/base/result.h"

namespace torchwatch::years {

/// Writes DIR/torchwatch.json and what it names: an empty feed, and a repository whose remote
/// cannot be reached, so that bisections wait. Fails with unavailable.
Result<> write_files(std::filesystem::path const& out,
                     std::vector<std::string> const& models,
                     std::vector<std::string> const& fleets);

/// Copies what a service left in `world`, its database and state/, to `state`. Libraries are left
/// empty: they are holes of a size. Throws filesystem_error.
void copy_state(std::filesystem::path const& world, std::filesystem::path const& state);

}  // namespace torchwatch::years
