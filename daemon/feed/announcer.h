#pragma once

#include <memory>
#include <utility>

#include <boost/asio/awaitable.hpp>

#include "daemon/feed/feed.h"
#include "storage/store.h"

namespace torchwatch::feed {

/// Announces what the feed has. Single-threaded.
class Announcer {
 public:
  /// `options`, `store` and `clock` must outlive it.
  Announcer(std::unique_ptr<Feed> feed,
            config::FeedOptions const& options,
            storage::Store& store,
            Clock const& clock)
      : feed_{std::move(feed)},
        options_{options},
        store_{store},
        clock_{clock} {}

  /// Asks the feed and stores what is news. Errors as the feed's.
  boost::asio::awaitable<Result<>> look();

 private:
  std::unique_ptr<Feed> feed_;
  config::FeedOptions const& options_;
  storage::Store& store_;
  Clock const& clock_;
};

}  // namespace torchwatch::feed
