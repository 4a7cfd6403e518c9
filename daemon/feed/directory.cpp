#include "daemon/feed/directory.h"

#include <filesystem>
#include <string>
#include <utility>

#include "daemon/builds/manifest.h"

namespace torchwatch::feed {
namespace {

Nightly delivered_as(Build const& build) {
  Nightly nightly;
  nightly.date = build.manifest.date;
  nightly.version = build.manifest.version;
  nightly.commit = build.manifest.commit;
  nightly.prefix = build.prefix;
  return nightly;
}

void take(std::filesystem::path const& entry, Found& found) {
  auto const build = builds::read_build(entry);
  if (build && !build->manifest.date.empty())
    found.nightlies.push_back(delivered_as(*build));
  else if (build)
    found.odd.push_back((entry / "build.json").string() + ": has no date");
  else if (build.error().code != ErrorCode::not_found)
    found.odd.push_back(build.error().message);
}

Result<Found> look_into(std::string const& path) {
  std::error_code problem;
  Found found;
  for (std::filesystem::directory_iterator at{path, problem}; !problem && at != end(at);
       at.increment(problem)) {
    std::error_code ignored;  // who is not let in sees no directory
    if (at->is_directory(ignored)) take(at->path(), found);
  }
  if (problem) return Error{ErrorCode::unavailable, "feed " + path + ": " + problem.message()};
  return found;
}

}  // namespace

boost::asio::awaitable<Result<Found>> Directory::look(std::vector<Nightly>) {
  co_return look_into(feed_.path);
}

}  // namespace torchwatch::feed
