#pragma once

#include <string>
#include <utility>

#include "storage/domain/result.h"

namespace torchwatch::process {

/// A fresh directory under the system's temporary one, gone with all it holds when this is.
class ScratchDirectory {
 public:
  /// `internal` when the temporary directory does not let us.
  static Result<ScratchDirectory> make();

  ScratchDirectory(ScratchDirectory const&) = delete;
  ScratchDirectory& operator=(ScratchDirectory const&) = delete;

  ScratchDirectory(ScratchDirectory&& other) noexcept : path_{std::exchange(other.path_, {})} {}

  ScratchDirectory& operator=(ScratchDirectory&&) = delete;
  ~ScratchDirectory();

  /// Makes `name` in it a symbolic link to `target`.
  Result<> link(std::string const& name, std::string const& target) const;

  std::string const& path() const { return path_; }

 private:
  explicit ScratchDirectory(std::string path) : path_{std::move(path)} {}

  std::string path_;
};

}  // namespace torchwatch::process
