#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "storage/base/result.h"

namespace torchwatch {

/// All of a small file that somebody else may have written. Never waits and never reads without
/// end: fails, naming the file, with not_found when there is none, with corrupt when it is no
/// regular file (a pipe, a device, a directory, a circle of links), is not ours to read or has more
/// than `most` bytes, and with unavailable when the disk does not give it.
Result<std::string> read_small_file(std::filesystem::path const& file,
                                    std::size_t most = std::size_t{64} << 10);

/// Puts a file there, or another in its place: whole or not at all, and after a power cut, too.
/// What is unfinished is FILE.new beside it. Waits for the disk. Fails with unavailable, naming the
/// file.
Result<> write_small_file(std::filesystem::path const& file, std::string_view text);

}  // namespace torchwatch
