#pragma once

#include <filesystem>
#include <string>

#include "storage/base/result.h"

namespace torchwatch::setup {

/// Writes a new file: it appears whole or not at all. A file that appears there meanwhile is not
/// touched. Fails with refused when something exists there, with unavailable when it cannot be
/// written; both name the file. Blocks.
Result<> write_new_file(std::filesystem::path const& file, std::string const& text);

}  // namespace torchwatch::setup
