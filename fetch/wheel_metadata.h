#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "storage/base/result.h"

namespace torchwatch::fetch {

/// The metadata of an unpacked wheel.
struct WheelMetadata {
  std::string name;                ///< "torch"
  std::string version;             ///< "2.9.0.dev20250902+cu126"
  std::vector<std::string> needs;  ///< Requires-Dist; requirement.h parses them
  std::string python;              ///< its Python, "3.12" of the tag cp312; empty: any
  std::string platform;            ///< "manylinux_2_28_x86_64", "any"
};

/// Reads the only *.dist-info in `directory`: METADATA (Core metadata 2.1) and the first tag of
/// WHEEL (PEP 427). Fails with corrupt, naming the file and what it lacks.
Result<WheelMetadata> wheel_metadata_of(std::filesystem::path const& directory);

/// Returns the only *.dist-info in `directory`. Empty when there is none, or more than one.
std::filesystem::path dist_info_in(std::filesystem::path const& directory);

}  // namespace torchwatch::fetch
