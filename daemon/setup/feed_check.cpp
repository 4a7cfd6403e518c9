#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "daemon/builds/fetcher.h"
#include "daemon/builds/git_fetch.h"
#include "daemon/feed/feed.h"
#include "daemon/feed/staleness.h"
#include "daemon/service/programs.h"
#include "daemon/setup/checks.h"
#include "daemon/setup/feed_look.h"
#include "runner/process/scratch_directory.h"
#include "storage/base/clock.h"
#include "storage/store.h"

namespace torchwatch::setup {
namespace {

/// Tries once, where the service would retry, so that the user sees the result sooner.
class AskingOnce final : public builds::Fetcher {
 public:
  explicit AskingOnce(builds::Fetcher& fetcher) : fetcher_{fetcher} {}

  boost::asio::awaitable<Result<fetch::Fetched>> fetch(fetch::FetchRequest request) override {
    request.download.attempts = 1;
    request.download.limit = patience;
    return fetcher_.fetch(std::move(request));
  }

  boost::asio::awaitable<Result<fetch::Index>> look_into(fetch::IndexRequest request) override {
    request.page.attempts = 1;
    request.page.limit = patience;
    return fetcher_.look_into(std::move(request));
  }

  boost::asio::awaitable<Result<fetch::CompanionFile>> find(
      fetch::CompanionRequest request) override {
    request.page.attempts = 1;
    request.page.limit = patience;
    return fetcher_.find(std::move(request));
  }

 private:
  static constexpr std::chrono::minutes patience{2};

  builds::Fetcher& fetcher_;
};

std::string place_of(config::FeedOptions const& feed) {
  if (!is_published(feed)) return feed.path;
  return feed.url + ", channel " + feed.channel;
}

Result<std::string> told_of(config::FeedOptions const& feed, feed::Found const& found) {
  auto const& nightlies = found.nightlies;
  if (nightlies.empty()) return place_of(feed) + ": readable, without any nightly yet";
  auto const newest = std::ranges::max_element(nightlies, {}, &Nightly::date);
  auto const stale = feed::why_stale(feed, newest->date, found.newer, SystemClock{}.now());
  if (!stale.empty()) return Error{ErrorCode::not_found, place_of(feed) + ": " + stale};
  auto const version = newest->version.empty() ? "" : ", " + newest->version;
  return place_of(feed) + ": " + std::to_string(nightlies.size()) + " nightlies, the newest of " +
         newest->date + version + feed::text_about_newer(feed, found.newer);
}

}  // namespace

boost::asio::awaitable<Result<feed::Found>> look_at_feed(CheckContext const& context) {
  auto const scratch = process::ScratchDirectory::make();
  if (!scratch) co_return scratch.error();
  auto options = context.options;
  options.state_dir = scratch->path();
  options.source.remote.clear();
  options.feed.python_wait = std::chrono::seconds{0};
  builds::FetchProgram program{context.executor, service::fetch_program(context.executable)};
  AskingOnce fetcher{program};
  builds::GitFetch fetching{context.executor, options.source};
  SystemClock const clock{};
  auto const folder = std::filesystem::path{scratch->path()} / "store";
  std::filesystem::create_directory(folder);
  auto store = storage::Store::open(folder / "torchwatch.sqlite");
  if (!store) co_return store.error();
  auto const feed = feed::open_feed(options, fetcher, fetching, *store, clock);
  co_return co_await feed->look();
}

PendingCheck check_feed(CheckContext const& context) {
  auto const& options = context.options;
  auto const found = co_await look_at_feed(context);
  if (!found) co_return found.error();
  if (!found->odd.empty()) co_return Error{ErrorCode::corrupt, "feed: " + found->odd.front()};
  if (found->nightlies.empty() && options.feed.kind == config::FeedKind::git)
    co_return Error{ErrorCode::not_found,
                    "feed " + options.feed.path + ": branch " + options.feed.branch +
                        " has no commit that names a nightly"};
  co_return told_of(options.feed, *found);
}

}  // namespace torchwatch::setup
