#pragma once

#include <optional>
#include <string>
#include <string_view>

/// The names of PyTorch's binaries.
namespace torchwatch::fetch {

enum class PackageKind {
  wheel,    ///< torch-VERSION-PYTHON-ABI-PLATFORM.whl (PEP 427)
  libtorch  ///< libtorch-[cxx11-abi-]shared-with-deps-VERSION.zip
};

/// The parts of the name of a nightly's file.
struct Package {
  PackageKind kind{};
  std::string version;   ///< "2.9.0.dev20250902+cu126"
  std::string date;      ///< date in its version, "2025-09-02"
  std::string variant;   ///< variant in its version, "cu126", "cpu"; may be empty
  std::string python;    ///< wheel: the Python tag, "cp310"
  std::string abi;       ///< wheel: the ABI tag, "cp310", "cp313t"; libtorch: "cxx11-abi" or empty
  std::string platform;  ///< wheel: the platform tag, "manylinux_2_28_x86_64"; libtorch: empty
};

/// Parses the name of a nightly of torch: a wheel for any platform, or a LibTorch for Linux with
/// shared libraries and their dependencies. Returns nothing for other files: other projects,
/// releases, "-latest.zip", debug and static libraries.
std::optional<Package> parse_package(std::string_view file_name);

}  // namespace torchwatch::fetch
