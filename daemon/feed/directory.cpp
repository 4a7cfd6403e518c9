#include "daemon/feed/directory.h"

#include <filesystem>
#include <string>
#include <utility>

#include <spdlog/spdlog.h>

#include "daemon/build/manifest.h"

namespace torchwatch::feed {
namespace {

Result<std::vector<Nightly>> nightlies_in(std::string const& path) {
  std::error_code problem;
  std::filesystem::directory_iterator const entries{path, problem};
  if (problem) return Error{ErrorCode::unavailable, "feed " + path + ": " + problem.message()};
  std::vector<Nightly> found;
  for (auto const& entry : entries) {
    if (!entry.is_directory()) continue;
    auto const build = build::read_build(entry.path());
    if (!build || build->manifest.date.empty()) {
      spdlog::debug("feed_entry_passed_over path={} reason=\"{}\"",
                    entry.path().string(),
                    build ? "build.json has no date" : build.error().message);
      continue;
    }
    Nightly nightly;
    nightly.date = build->manifest.date;
    nightly.version = build->manifest.version;
    nightly.commit = build->manifest.commit;
    nightly.prefix = build->prefix;
    found.push_back(std::move(nightly));
  }
  return found;
}

}  // namespace

boost::asio::awaitable<Result<std::vector<Nightly>>> Directory::look(std::vector<Nightly>) {
  co_return nightlies_in(feed_.path);
}

}  // namespace torchwatch::feed
