#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>

#include <stdlib.h>

namespace torchwatch::tests {

/// A new directory, gone with this object.
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

  /// For a Store.
  std::filesystem::path database() const { return path_ / "torchwatch.db"; }

  /// Files and directories in it, not those below.
  std::ptrdiff_t entries() const {
    return std::distance(std::filesystem::directory_iterator{path_}, {});
  }

 private:
  std::filesystem::path path_;
};

/// The whole of a file; empty when there is none.
inline std::string text_of(std::filesystem::path const& file) {
  std::ifstream stream{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

}  // namespace torchwatch::tests
