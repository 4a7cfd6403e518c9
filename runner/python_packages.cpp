#include "runner/python_packages.h"

#include <filesystem>
#include <system_error>

namespace torchwatch::runner {
namespace {

namespace fs = std::filesystem;

bool is_package(fs::path const& directory) {
  std::error_code ignored;
  return fs::exists(directory / "__init__.py", ignored);
}

}  // namespace

std::string python_packages_of(std::string const& prefix) {
  fs::path path{prefix};
  if (prefix.empty() || is_package(path / "torch")) return prefix;
  if (!path.has_filename()) path = path.parent_path();  // "nightly-1/torch/"
  return path.filename() == "torch" && is_package(path) ? path.parent_path().string()
                                                        : std::string{};
}

}  // namespace torchwatch::runner
