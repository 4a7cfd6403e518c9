#pragma once

#include "config/options.h"
#include "daemon/feed/feed.h"

namespace torchwatch::feed {

/// A folder that another system fills, with one build per nightly. Links to other entries are
/// skipped, and prefixes are canonical. So a link that moves does not move a nightly. Of several
/// entries with the same date and commit one counts, preferably one with the date in its name.
class Directory final : public Feed {
 public:
  /// `feed` must outlive it.
  explicit Directory(config::FeedOptions const& feed) : feed_{feed} {}

  /// Reads the folder again; blocks. Nightlies are in order of date and name. An entry without a
  /// build.json is skipped: it may be in the middle of being copied. An entry whose build.json is
  /// invalid, or has no date, is odd.
  boost::asio::awaitable<Result<Found>> look() override;

 private:
  config::FeedOptions const& feed_;
};

}  // namespace torchwatch::feed
