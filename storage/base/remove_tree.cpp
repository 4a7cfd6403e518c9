#include "storage/base/remove_tree.h"

#include <utility>
#include <vector>

namespace torchwatch {
namespace fs = std::filesystem;

namespace {

/// Gives the owner all rights on the directories. Files need none: removing a file takes the right
/// to write to its directory.
void own_directories(fs::path const& top) {
  std::error_code ignored;  // the removal that follows reports the error
  std::vector<fs::path> waiting{top};
  while (!waiting.empty()) {
    auto const folder = std::move(waiting.back());
    waiting.pop_back();
    if (fs::symlink_status(folder, ignored).type() != fs::file_type::directory) continue;
    fs::permissions(folder, fs::perms::owner_all, fs::perm_options::add, ignored);
    for (fs::directory_iterator entry{folder, ignored}, end; entry != end; entry.increment(ignored))
      if (entry->symlink_status(ignored).type() == fs::file_type::directory)
        waiting.push_back(entry->path());
  }
}

}  // namespace

void remove_tree(fs::path const& path, std::error_code& problem) {
  fs::remove_all(path, problem);
  if (problem != std::errc::permission_denied) return;
  own_directories(path);
  fs::remove_all(path, problem);
}

}  // namespace torchwatch
