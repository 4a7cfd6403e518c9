#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "storage/base/result.h"

namespace torchwatch::fetch {

/// What an archive may come to. A CUDA wheel of PyTorch unpacks to 5 GiB in 15,000 files, none of
/// which shrank to less than a hundredth.
struct UnpackLimits {
  std::int64_t bytes = 64LL << 30;  ///< of all files together
  std::int64_t entries = 100'000;
  std::int64_t ratio = 200;  ///< bytes unpacked for each of the archive, beyond the first 64 MiB
  std::size_t path = 1024;   ///< characters of an entry's path
};

/// What came out of an archive.
struct Unpacked {
  std::int64_t bytes = 0;
  std::int64_t entries = 0;
};

/// Bytes unpacked so far.
using UnpackProgress = std::function<void(std::int64_t)>;

/// Unpacks a zip, wheel or tar, however compressed, into `directory`, which is made and may not be
/// there. Regular files, directories and symbolic links that stay inside come out, readable and
/// writable by us, executable where the archive says so; owners, times and other attributes are not
/// taken over.
///
/// Everything else is refused, in one line that names archive, entry and rule: absolute paths,
/// "..", links out of the tree and hard links, devices, pipes and sockets, two entries of one path,
/// encrypted ones, and what breaks `limits`. Fails with corrupt, naming the archive, when that is
/// cut off or damaged. Nothing is written outside of `directory`, and when it fails that is gone
/// again; what the headers tell is looked at before anything is written. Fails with unavailable
/// when the disk is full or broken. Blocks; calls `on_progress` a few times a second at most.
Result<Unpacked> unpack(std::filesystem::path const& archive,
                        std::filesystem::path const& directory,
                        UnpackLimits const& limits = {},
                        UnpackProgress const& on_progress = {});

}  // namespace torchwatch::fetch
