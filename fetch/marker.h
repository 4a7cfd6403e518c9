#pragma once

#include <set>
#include <string>
#include <string_view>

#include "storage/base/result.h"

namespace torchwatch::fetch {

/// What markers are asked about: a Linux host with CPython.
struct MarkerEnvironment {
  std::string python;            ///< "3.12"
  std::string machine;           ///< "x86_64", "aarch64"
  std::set<std::string> extras;  ///< that are wanted of the package, by their canonical names
};

/// Whether an environment marker holds: 'platform_system == "Linux" and extra == "cublas"' (PEP
/// 508). An empty one always does. Fails with invalid_argument, naming what is no marker or asks
/// for what PEP 508 does not know.
Result<bool> marker_holds(std::string_view marker, MarkerEnvironment const& environment);

}  // namespace torchwatch::fetch
