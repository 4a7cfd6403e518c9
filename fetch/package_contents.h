#pragma once

#include <filesystem>
#include <string>

#include "storage/base/result.h"
#include "storage/domain/build.h"

namespace torchwatch::fetch {

/// The version, commit and prefix of an unpacked package.
struct PackageContents {
  std::filesystem::path
      prefix;           ///< value for CMAKE_PREFIX_PATH: contains lib, include, share/cmake/Torch
  std::string version;  ///< "2.9.0.dev20250902+cpu"
  /// The commit of the nightly branch that it was built from; its subject names the trunk commit.
  CommitSha release_commit;
};

/// Reads the contents of a wheel (torch/version.py: __version__, git_version) or a LibTorch
/// (libtorch/build-version, build-hash) in `directory`. Fails with corrupt, naming the file and
/// what it lacks, when the directory has neither, or when a worker cannot be compiled with it.
Result<PackageContents> contents_of(std::filesystem::path const& directory);

}  // namespace torchwatch::fetch
