#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "storage/base/result.h"

namespace torchwatch::years {

/// Writes DIR/torchwatch.json and what it names: an empty feed, and a repository of which the
/// remote is gone. So the service can neither measure nor bisect, and what is in the middle stays
/// so. Fails with unavailable.
Result<> write_files(std::filesystem::path const& out,
                     std::vector<std::string> const& models,
                     std::vector<std::string> const& fleets);

}  // namespace torchwatch::years
