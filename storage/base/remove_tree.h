#pragma once

#include <filesystem>
#include <system_error>

namespace torchwatch {

/// Removes `path` and all below it, also directories that whoever made them took the rights to
/// write away from. Follows no links. What is not there is removed; what stays, `problem` tells.
void remove_tree(std::filesystem::path const& path, std::error_code& problem);

}  // namespace torchwatch
