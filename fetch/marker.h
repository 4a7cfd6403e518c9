#pragma once

#include <set>
#include <string>
#include <string_view>

#include "storage/base/result.h"

namespace torchwatch::fetch {

/// The environment in which markers are evaluated: a Linux host with CPython.
struct MarkerEnvironment {
  std::string python;            ///< "3.12"
  std::string machine;           ///< "x86_64", "aarch64"
  std::set<std::string> extras;  ///< requested extras of the package, by their canonical names
};

/// True when an environment marker holds (PEP 508), such as 'platform_system == "Linux" and extra
/// == "cublas"'. An empty marker always holds. Fails with invalid_argument, naming the part that is
/// not a marker or uses a variable that PEP 508 does not define.
Result<bool> marker_holds(std::string_view marker, MarkerEnvironment const& environment);

}  // namespace torchwatch::fetch
