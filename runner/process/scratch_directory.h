#pragma once

#include <string>
#include <utility>

#include "storage/base/result.h"

namespace torchwatch::process {

/// A new directory in the system's temporary directory, removed with its contents by the
/// destructor. It is locked (flock) while the process that created it lives, so that other
/// processes can see whether they may remove it.
class ScratchDirectory {
 public:
  /// Creates the directory. Fails with `unavailable` when the temporary directory does not permit
  /// it.
  static Result<ScratchDirectory> make();

  ScratchDirectory(ScratchDirectory const&) = delete;
  ScratchDirectory& operator=(ScratchDirectory const&) = delete;

  ScratchDirectory(ScratchDirectory&& other) noexcept
      : path_{std::exchange(other.path_, {})},
        lock_{std::exchange(other.lock_, -1)} {}

  ScratchDirectory& operator=(ScratchDirectory&&) = delete;
  ~ScratchDirectory();

  /// Makes `name` in it a symbolic link to `target`. Fails with `unavailable` when the directory
  /// does not permit it.
  Result<> link(std::string const& name, std::string const& target) const;

  std::string const& path() const { return path_; }

 private:
  ScratchDirectory(std::string path, int lock) : path_{std::move(path)}, lock_{lock} {}

  std::string path_;
  int lock_;
};

/// Removes this user's scratch directories whose creators were killed. Skips what it cannot remove.
void sweep_scratch_directories();

}  // namespace torchwatch::process
