#pragma once

#include <set>
#include <string>
#include <string_view>

#include "fetch/version.h"
#include "storage/base/result.h"

namespace torchwatch::fetch {

/// What a Python package needs: 'cuda-toolkit[cublas]==13.0.2; platform_system == "Linux"'
/// (PEP 508).
struct Requirement {
  std::string text;              ///< without its marker: 'cuda-toolkit[cublas]==13.0.2'
  std::string name;              ///< as canonical_name has it
  std::set<std::string> extras;  ///< of them, by their canonical names
  VersionRange versions;
  std::string marker;  ///< when it is needed; empty: always. See marker.h
};

/// "nvidia-cublas" of "NVIDIA_cuBLAS": projects and extras have one name in many spellings (PEP
/// 503).
std::string canonical_name(std::string_view name);

/// Fails with invalid_argument, naming the text, for what is none, or names an address instead of a
/// version.
Result<Requirement> parse_requirement(std::string_view text);

}  // namespace torchwatch::fetch
