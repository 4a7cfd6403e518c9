#pragma once

#include <filesystem>
#include <system_error>

namespace torchwatch {

/// Removes `path` and everything below it, also directories without permission to write. Does not
/// follow links. Succeeds when `path` does not exist. `problem`: why something could not be
/// removed.
void remove_tree(std::filesystem::path const& path, std::error_code& problem);

}  // namespace torchwatch
