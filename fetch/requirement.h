#pragma once

#include <set>
#include <string>
#include <string_view>

#include "fetch/version.h"
#include "storage/base/result.h"

namespace torchwatch::fetch {

/// A requirement of a Python package (PEP 508): 'cuda-toolkit[cublas]==13.0.2; platform_system ==
/// "Linux"'.
struct Requirement {
  std::string text;              ///< without its marker: 'cuda-toolkit[cublas]==13.0.2'
  std::string name;              ///< canonical_name() of the package
  std::set<std::string> extras;  ///< requested extras, by their canonical names
  VersionRange versions;
  std::string marker;  ///< condition of the requirement (marker.h); empty: it always applies
};

/// Returns the canonical name of a project or extra, "nvidia-cublas" for "NVIDIA_cuBLAS", because a
/// name can have several spellings (PEP 503).
std::string canonical_name(std::string_view name);

/// Parses a requirement. Fails with invalid_argument, naming the text, when it is not a requirement
/// or has an address instead of versions.
Result<Requirement> parse_requirement(std::string_view text);

}  // namespace torchwatch::fetch
