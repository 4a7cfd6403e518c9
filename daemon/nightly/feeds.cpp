#include "daemon/nightly/feeds.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include <spdlog/spdlog.h>

#include "bisect/git_history.h"
#include "daemon/build/manifest.h"

namespace torchwatch::nightly {
namespace {

Result<std::vector<Nightly>> look_in_directory(std::string const& path) {
  std::error_code problem;
  std::filesystem::directory_iterator entries{path, problem};
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

Result<std::vector<Nightly>> look_in_repository(config::FeedOptions const& feed) {
  auto const history = bisect::GitHistory::open(feed.path);
  if (!history) return history.error();
  constexpr int newest = 60;  // two months: no feed is asked for more
  auto const releases = history->nightly_releases(feed.branch, newest);
  if (!releases) return releases.error();
  std::vector<Nightly> found;
  for (auto const& release : *releases) {
    Nightly nightly;
    nightly.date = release.date;
    nightly.commit = release.trunk;
    nightly.release_commit = release.release;
    found.push_back(std::move(nightly));
  }
  return found;
}

/// Whether the feed reads the repository that new commits are fetched into.
bool is_fetched(config::Options const& options) {
  std::error_code ignored;
  return options.feed.kind == config::FeedKind::git && !options.source.remote.empty() &&
         std::filesystem::equivalent(options.feed.path, options.source.repository, ignored);
}

}  // namespace

Result<std::vector<Nightly>> look_for_nightlies(config::FeedOptions const& feed,
                                                std::string const& newest_known,
                                                Timestamp now) {
  auto found =
      feed.kind == config::FeedKind::git ? look_in_repository(feed) : look_in_directory(feed.path);
  if (!found) return found.error();
  std::stable_sort(found->begin(), found->end(), [](Nightly const& a, Nightly const& b) {
    return a.date < b.date;
  });
  auto const is_old = [&](Nightly const& nightly) {
    return nightly.date < newest_known;
  };
  if (newest_known.empty()) {
    auto const keep = std::min(found->size(), static_cast<std::size_t>(feed.backlog));
    found->erase(found->begin(), found->end() - static_cast<std::ptrdiff_t>(keep));
  } else {
    std::erase_if(*found, is_old);
  }
  for (auto& nightly : *found)
    nightly.announced_at = now;
  return found;
}

boost::asio::awaitable<Result<>> Feeds::look() {
  // What cannot be fetched now may come with the next pass; the log tells why.
  if (is_fetched(options_)) co_await git_fetch_.refresh();
  auto const known = store_.nightlies().all();
  auto const newest = known.empty() ? std::string{} : known.back().date;
  auto const found = look_for_nightlies(options_.feed, newest, clock_.now());
  if (!found) co_return found.error();
  for (auto const& nightly : *found) {
    if (!store_.nightlies().announce(nightly)) continue;
    spdlog::info("nightly_announced date={} commit={} version={}",
                 nightly.date,
                 short_of(nightly.commit),
                 nightly.version);
  }
  co_return Result<>{};
}

}  // namespace torchwatch::nightly
