#pragma once

#include <filesystem>
#include <string>

#include "storage/base/result.h"

namespace torchwatch::setup {

/// Writes a file that is not there yet: it appears whole or not at all, and whatever appears there
/// meanwhile is not touched. Fails with refused when something is there, with unavailable when it
/// cannot be written; both name the file. Blocks.
Result<> write_new_file(std::filesystem::path const& file, std::string const& text);

}  // namespace torchwatch::setup
