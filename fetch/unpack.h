#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "storage/base/result.h"

namespace torchwatch::fetch {

/// The limits of an archive. A CUDA wheel of PyTorch unpacks to 5 GiB in 15,000 files, each
/// compressed to at least a hundredth of its size.
struct UnpackLimits {
  std::int64_t bytes = 64LL << 30;  ///< size of all files together
  std::int64_t entries = 100'000;
  std::int64_t ratio = 200;  ///< unpacked bytes per byte of the archive, after the first 64 MiB
  std::size_t path = 1024;   ///< characters of an entry's path
};

/// The size of an unpacked archive.
struct Unpacked {
  std::int64_t bytes = 0;
  std::int64_t entries = 0;
};

/// Called with the number of bytes unpacked so far.
using UnpackProgress = std::function<void(std::int64_t)>;

/// Unpacks a zip, wheel or tar, with any compression, into `directory`, which is created and must
/// not exist. Unpacks regular files, directories and symbolic links within the tree. They are
/// readable and writable by this user, and executable if the archive says so. Owners, times and
/// other attributes are ignored. Blocks; calls `on_progress` at most a few times a second.
///
/// Writes nothing outside of `directory`, and removes it after a failure. Checks headers before it
/// writes. Fails with invalid_argument when `directory` exists. Fails with refused, in one line
/// with archive, entry and rule, for absolute paths, "..", links out of the tree, hard links,
/// devices, pipes, sockets, two entries with one path, encrypted entries, and more than `limits`.
/// Fails with corrupt, naming the archive, when it is truncated or damaged. Fails with unavailable
/// when the disk is full or fails.
Result<Unpacked> unpack(std::filesystem::path const& archive,
                        std::filesystem::path const& directory,
                        UnpackLimits const& limits = {},
                        UnpackProgress const& on_progress = {});

}  // namespace torchwatch::fetch
