#pragma once

#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/build/git_fetch.h"
#include "storage/domain/build.h"
#include "storage/domain/result.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// The newest `feed.backlog` nightlies of the feed, oldest first, or all that are newer than
/// `newest_known` when that is not empty ("YYYY-MM-DD"). Reads the directory or the repository
/// afresh each time; blocks. A directory's entry without a readable build.json is passed over: it
/// may be in the middle of being copied.
Result<std::vector<Nightly>> look_for_nightlies(config::FeedOptions const& feed,
                                                std::string const& newest_known,
                                                Timestamp now);

/// Announces what the configured feed has. Single-threaded.
class Feeds {
 public:
  /// All arguments must outlive it.
  Feeds(config::Options const& options,
        storage::Store& store,
        Clock const& clock,
        build::GitFetch& git_fetch)
      : options_{options},
        store_{store},
        clock_{clock},
        git_fetch_{git_fetch} {}

  /// Asks the feed, for which it fetches what is new where that is the watched repository, and
  /// stores what nobody knew. Errors as look_for_nightlies'.
  boost::asio::awaitable<Result<>> look();

 private:
  config::Options const& options_;
  storage::Store& store_;
  Clock const& clock_;
  build::GitFetch& git_fetch_;
};

}  // namespace torchwatch::nightly
