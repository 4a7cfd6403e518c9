#include "daemon/feed/nightly_branch.h"

#include <filesystem>
#include <string>
#include <utility>

#include "bisect/git/history.h"

namespace torchwatch::feed {
namespace {

Result<Found> releases_of(config::FeedOptions const& feed, std::string const& remote) {
  auto const history = bisect::GitHistory::open(feed.path);
  if (!history) return history.error();
  constexpr int newest = 60;  // two months: more is never needed
  auto const releases = history->nightly_releases(feed.branch, newest, remote);
  if (!releases) return releases.error();
  Found found;
  for (auto const& release : *releases) {
    Nightly nightly;
    nightly.date = release.date;
    nightly.commit = release.trunk;
    nightly.release_commit = release.release;
    found.nightlies.push_back(std::move(nightly));
  }
  return found;
}

/// True when the branch is in the repository that new commits are fetched into.
bool is_fetched(config::Options const& options) {
  std::error_code ignored;
  return !options.source.remote.empty() &&
         std::filesystem::equivalent(options.feed.path, options.source.repository, ignored);
}

}  // namespace

boost::asio::awaitable<Result<Found>> NightlyBranch::look() {
  // The next look may fetch what this one cannot; the log shows why.
  bool const is_ours = is_fetched(options_);
  if (is_ours) co_await git_fetch_.refresh();
  co_return releases_of(options_.feed, is_ours ? options_.source.remote : "");
}

}  // namespace torchwatch::feed
