#pragma once

#include <string>
#include <utility>

#include "storage/base/result.h"

namespace torchwatch::process {

/// A fresh directory under the system's temporary one, gone with all it holds when this is. It is
/// locked (flock) as long as whoever made it lives, so that others know whether they may remove it.
class ScratchDirectory {
 public:
  /// `unavailable` when the temporary directory does not let us.
  static Result<ScratchDirectory> make();

  ScratchDirectory(ScratchDirectory const&) = delete;
  ScratchDirectory& operator=(ScratchDirectory const&) = delete;

  ScratchDirectory(ScratchDirectory&& other) noexcept
      : path_{std::exchange(other.path_, {})},
        lock_{std::exchange(other.lock_, -1)} {}

  ScratchDirectory& operator=(ScratchDirectory&&) = delete;
  ~ScratchDirectory();

  /// Makes `name` in it a symbolic link to `target`. `unavailable` when the directory does not let
  /// us.
  Result<> link(std::string const& name, std::string const& target) const;

  std::string const& path() const { return path_; }

 private:
  ScratchDirectory(std::string path, int lock) : path_{std::move(path)}, lock_{lock} {}

  std::string path_;
  int lock_;
};

/// Removes our user's scratch directories whose makers were killed. What cannot be removed stays.
void sweep_scratch_directories();

}  // namespace torchwatch::process
