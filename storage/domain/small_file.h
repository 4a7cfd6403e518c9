#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "storage/domain/result.h"

namespace torchwatch {

/// All of a small file that somebody else may have written. Never waits and never reads without
/// end: fails, naming the file, with not_found when there is none, with corrupt when it is no
/// regular file (a pipe, a device, a directory, a circle of links) or has more than `most` bytes,
/// and with unavailable when it cannot be read.
Result<std::string> read_small_file(std::filesystem::path const& file,
                                    std::size_t most = std::size_t{64} << 10);

}  // namespace torchwatch
