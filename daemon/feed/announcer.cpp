#include "daemon/feed/announcer.h"

#include <spdlog/spdlog.h>

#include "daemon/feed/news.h"

namespace torchwatch::feed {

boost::asio::awaitable<Result<>> Announcer::look() {
  auto const known = store_.nightlies().all();
  auto found = co_await feed_->look(known);
  if (!found) co_return found.error();
  for (auto& nightly : news_in(std::move(*found), known, options_.backlog)) {
    nightly.announced_at = clock_.now();
    if (!store_.nightlies().announce(nightly)) continue;
    spdlog::info("nightly_announced date={} commit={} version={}{}",
                 nightly.date,
                 short_of(nightly.commit),
                 nightly.version,
                 nightly.file ? " url=" + nightly.file->url : "");
  }
  co_return Result<>{};
}

}  // namespace torchwatch::feed
