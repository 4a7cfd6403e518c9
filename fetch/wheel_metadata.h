#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "storage/base/result.h"

namespace torchwatch::fetch {

/// What an unpacked wheel says of itself.
struct WheelMetadata {
  std::string name;                ///< "torch"
  std::string version;             ///< "2.9.0.dev20250902+cu126"
  std::vector<std::string> needs;  ///< Requires-Dist, as requirement.h reads them
  std::string python;              ///< its Python, "3.12" of the tag cp312; empty: any
  std::string platform;            ///< "manylinux_2_28_x86_64", "any"
};

/// Of the only *.dist-info in `directory`: METADATA (Core metadata 2.1) and the first tag of WHEEL
/// (PEP 427). Fails with corrupt, naming the file and what it lacks.
Result<WheelMetadata> wheel_metadata_of(std::filesystem::path const& directory);

/// The only *.dist-info in `directory`; empty when there is none, or several.
std::filesystem::path dist_info_in(std::filesystem::path const& directory);

}  // namespace torchwatch::fetch
