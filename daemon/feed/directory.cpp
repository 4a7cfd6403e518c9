#include "daemon/feed/directory.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "daemon/builds/manifest.h"

namespace torchwatch::feed {
namespace {

namespace fs = std::filesystem;

/// An entry of the folder, and the directory that it is or links to.
struct Entry {
  fs::path path;
  fs::path target;  ///< canonical
};

Nightly delivered_as(Build const& build) {
  Nightly nightly;
  nightly.date = build.manifest.date;
  nightly.version = build.manifest.version;
  nightly.commit = build.manifest.commit;
  nightly.prefix = build.prefix;
  return nightly;
}

/// Returns the sort key of a nightly: by date, then directories with the date in their name, then
/// those with any number. "latest" will be another nightly tomorrow.
auto place_of(Nightly const& nightly) {
  auto const name = fs::path{nightly.prefix}.filename().string();
  auto compact = nightly.date;
  std::erase(compact, '-');
  bool const has_date =
      name.find(nightly.date) != std::string::npos || name.find(compact) != std::string::npos;
  bool const has_number = name.find_first_of("0123456789") != std::string::npos;
  return std::tuple{nightly.date, !has_date, !has_number, nightly.prefix};
}

/// Keeps one entry per date and commit. The result does not depend on the order of the file system.
void keep_one_each(std::vector<Nightly>& nightlies) {
  std::ranges::sort(nightlies, {}, place_of);
  std::vector<Nightly> kept;
  for (auto& nightly : nightlies) {
    auto const is_same = [&](Nightly const& other) {
      return other.date == nightly.date && other.commit == nightly.commit;
    };
    if (std::ranges::none_of(kept, is_same)) kept.push_back(std::move(nightly));
  }
  nightlies = std::move(kept);
}

void take(Entry const& entry, Found& found) {
  auto const build = builds::read_build(entry.target);
  if (build && !build->manifest.date.empty())
    found.nightlies.push_back(delivered_as(*build));
  else if (build)
    found.odd.push_back((entry.path / "build.json").string() + ": has no date");
  else if (build.error().code != ErrorCode::not_found)
    found.odd.push_back(build.error().message);
}

/// Returns the directories in `folder`, which is canonical, except links to others of them.
Result<std::vector<Entry>> entries_of(fs::path const& folder) {
  std::error_code problem;
  std::vector<Entry> entries;
  for (fs::directory_iterator at{folder, problem}; !problem && at != end(at);
       at.increment(problem)) {
    std::error_code ignored;  // without permission, it does not look like a directory
    if (!at->is_directory(ignored)) continue;
    auto const target = fs::canonical(at->path(), ignored);
    bool const is_alias = at->is_symlink(ignored) && target.parent_path() == folder;
    if (!target.empty() && !is_alias) entries.push_back({at->path(), target});
  }
  if (problem)
    return Error{ErrorCode::unavailable, "feed " + folder.string() + ": " + problem.message()};
  return entries;
}

Result<Found> look_into(std::string const& path) {
  std::error_code problem;
  auto const folder = fs::canonical(path, problem);
  if (problem) return Error{ErrorCode::unavailable, "feed " + path + ": " + problem.message()};
  auto const entries = entries_of(folder);
  if (!entries) return entries.error();
  Found found;
  for (auto const& entry : *entries)
    take(entry, found);
  keep_one_each(found.nightlies);
  return found;
}

}  // namespace

boost::asio::awaitable<Result<Found>> Directory::look() {
  co_return look_into(feed_.path);
}

}  // namespace torchwatch::feed
