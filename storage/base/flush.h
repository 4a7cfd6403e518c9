#pragma once

#include <filesystem>

#include "storage/base/result.h"

namespace torchwatch {

/// Waits until a file, or the names in a directory, are on the disk. An empty path is the current
/// directory. Fails with unavailable, naming the path.
Result<> flush_to_disk(std::filesystem::path const& path);

}  // namespace torchwatch
