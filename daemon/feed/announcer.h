#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

  /// Entries that were no nightlies when the feed was last asked, nor when it was before: one that
  /// is being copied is whole by then. Those of the first look all count, since `check` has no
  /// other. Those of days to come are odd, too: they would hide what is published until then. Each
  /// with the reason, for people. Nothing before the feed answered.
  std::optional<std::vector<std::string>> const& odd() const { return odd_; }

  /// Why the feed, when it last answered, had nothing to judge after what is known (why_behind);
  /// empty where it had.
  std::string const& behind() const { return behind_; }

  /// The Pythons of newer nightlies than those that fit (Found::newer), at the last look.
  std::string const& newer() const { return newer_; }

 private:
  void follow(std::vector<Nightly> const& found);
  void note_odd(std::vector<std::string> odd);

  std::unique_ptr<Feed> feed_;
  config::FeedOptions const& options_;
  storage::Store& store_;
  Clock const& clock_;
  std::optional<std::vector<std::string>> seen_;  // odd ones, with the last look
  std::optional<std::vector<std::string>> odd_;
  std::string newer_;
  std::string behind_;
};

}  // namespace torchwatch::feed
