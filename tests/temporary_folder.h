#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>

#include <stdlib.h>

namespace torchwatch::tests {

/// A new directory. It is removed when this object is destroyed.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    auto name = (std::filesystem::temp_directory_path() / "torchwatch-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }

  TemporaryFolder(TemporaryFolder const&) = delete;
  TemporaryFolder& operator=(TemporaryFolder const&) = delete;

  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::filesystem::path const& path() const { return path_; }

  std::filesystem::path operator/(std::filesystem::path const& name) const { return path_ / name; }

  /// Returns a path for the database of a Store.
  std::filesystem::path database() const { return path_ / "torchwatch.db"; }

  /// Returns the number of files and directories directly in it.
  std::ptrdiff_t entries() const {
    return std::distance(std::filesystem::directory_iterator{path_}, {});
  }

 private:
  std::filesystem::path path_;
};

/// Returns the content of a file; empty when it does not exist.
inline std::string text_of(std::filesystem::path const& file) {
  std::ifstream stream{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

}  // namespace torchwatch::tests
