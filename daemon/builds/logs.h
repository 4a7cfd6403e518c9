#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

namespace torchwatch::builds {

/// Deletes the files of `folder` that were not written to for `age`. Then deletes the least
/// recently written ones until the rest has at most `most_bytes`, but none of the last hour. Files
/// that cannot be deleted stay.
void prune_logs(std::filesystem::path const& folder,
                std::chrono::seconds age,
                std::uintmax_t most_bytes);

}  // namespace torchwatch::builds
