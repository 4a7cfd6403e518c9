#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fetch/wheel_name.h"
#include "storage/base/result.h"

namespace torchwatch::fetch {

/// The metadata of an unpacked wheel.
struct WheelMetadata {
  std::string name;                ///< "torch"
  std::string version;             ///< "2.9.0.dev20250902+cu126"
  std::vector<std::string> needs;  ///< Requires-Dist; requirement.h parses them
  std::string python;              ///< its Python, "3.12" of the tag cp312; empty: any
  std::string platform;            ///< "manylinux_2_28_x86_64", "any"
  std::vector<WheelTag> tags;      ///< all tags; `python` and `platform` are those of the first
  std::string requires_python;     ///< Requires-Python, ">=3.10"; empty: any
};

/// Reads the only *.dist-info in `directory`: METADATA (Core metadata 2.1) and the tags of WHEEL
/// (PEP 427). With a `package`, by its canonical name, reads its *.dist-info, because a directory
/// of several wheels has several. Fails with corrupt, naming the file and what it lacks.
Result<WheelMetadata> wheel_metadata_of(std::filesystem::path const& directory,
                                        std::string const& package = {});

/// Returns the only *.dist-info in `directory`, or the only one of `package`. Empty when there is
/// none, or more than one.
std::filesystem::path dist_info_in(std::filesystem::path const& directory,
                                   std::string const& package = {});

}  // namespace torchwatch::fetch
