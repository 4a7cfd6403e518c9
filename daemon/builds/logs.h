#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

namespace torchwatch::builds {

/// Deletes the files of `folder` that nobody wrote to for longer than `age`, and then those written
/// to longest ago, but for the last hour's, until what is left has at most `most_bytes`. What
/// cannot be deleted stays.
void prune_logs(std::filesystem::path const& folder,
                std::chrono::seconds age,
                std::uintmax_t most_bytes);

}  // namespace torchwatch::builds
