#pragma once

#include <string>
#include <vector>

namespace torchwatch::bisect {

/// The files and submodules that a commit changed.
struct CommitChanges {
  /// A change of a submodule's commit.
  struct Pin {
    std::string path;
    std::string from;  ///< hash; empty when it was added
    std::string to;    ///< hash; empty when it was removed
  };

  std::vector<std::string> paths;  ///< old and new paths of files, sorted; without submodules
  std::vector<Pin> pins;           ///< sorted by path
};

}  // namespace torchwatch::bisect
