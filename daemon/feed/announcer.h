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

/// Announces the nightlies of the feed. Single-threaded.
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

  /// Reads the feed and stores new nightlies. Fails as the feed does.
  boost::asio::awaitable<Result<>> look();

  /// Entries that were not nightlies at the last two looks, each with the reason, for people. An
  /// entry that was being copied is complete by the second look. All entries of the first look
  /// count, since `check` has no other. Entries with dates in the future count, too: they would
  /// hide later nightlies. Nothing before the feed replied.
  std::optional<std::vector<std::string>> const& odd() const { return odd_; }

  /// The reason why the feed's last reply had nothing to judge after the known nightlies
  /// (why_behind); empty when it had.
  std::string const& behind() const { return behind_; }

  /// The Pythons of nightlies newer than all suitable ones (Found::newer), at the last look.
  std::string const& newer() const { return newer_; }

 private:
  void follow(std::vector<Nightly> const& found, std::vector<Nightly>& known);
  void note_odd(std::vector<std::string> odd);

  std::unique_ptr<Feed> feed_;
  config::FeedOptions const& options_;
  storage::Store& store_;
  Clock const& clock_;
  std::optional<std::vector<std::string>> seen_;  // odd entries at the last look
  std::optional<std::vector<std::string>> odd_;
  std::string newer_;
  std::string behind_;
};

}  // namespace torchwatch::feed
