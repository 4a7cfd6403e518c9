#pragma once

#include <string>
#include <vector>

namespace torchwatch::bisect {

/// What a commit changed.
struct CommitChanges {
  /// Another commit of a submodule.
  struct Pin {
    std::string path;
    std::string from;  ///< hash; empty when it was added
    std::string to;    ///< hash; empty when it was removed
  };

  std::vector<std::string> paths;  ///< of files, old and new ones, sorted; submodules are not files
  std::vector<Pin> pins;           ///< by path
};

}  // namespace torchwatch::bisect
