#pragma once

#include "config/options.h"
#include "daemon/feed/feed.h"

namespace torchwatch::feed {

/// A folder with one build a nightly, which somebody else fills. A link to another entry is passed
/// over, and prefixes are canonical, so a link that moves on moves no nightly. Of entries with the
/// same date and commit one counts: one with the date in its name, where there is one.
class Directory final : public Feed {
 public:
  /// `feed` must outlive it.
  explicit Directory(config::FeedOptions const& feed) : feed_{feed} {}

  /// Reads the folder afresh; blocks. Nightlies come by date and name. An entry without a
  /// build.json is passed over: it may be in the middle of being copied. One whose build.json is no
  /// good, or has no date, is odd.
  boost::asio::awaitable<Result<Found>> look(std::vector<Nightly> known) override;

 private:
  config::FeedOptions const& feed_;
};

}  // namespace torchwatch::feed
