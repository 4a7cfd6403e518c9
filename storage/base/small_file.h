#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "storage/base/result.h"

namespace torchwatch {

/// Returns the contents of a small file that another user or program may have written. Never waits,
/// and reads at most `most` bytes. Errors name the file: not_found when it does not exist; corrupt
/// when it is not a regular file (a pipe, device, directory or loop of links), may not be read or
/// has more than `most` bytes; unavailable when the disk fails.
Result<std::string> read_small_file(std::filesystem::path const& file,
                                    std::size_t most = std::size_t{64} << 10);

/// Creates or replaces a file, all or nothing, also after a power failure. Writes FILE.new next to
/// it first. Waits for the disk. Fails with unavailable, naming the file.
Result<> write_small_file(std::filesystem::path const& file, std::string_view text);

}  // namespace torchwatch
