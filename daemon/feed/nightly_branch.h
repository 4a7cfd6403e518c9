#pragma once

#include "config/options.h"
#include "daemon/builds/git_fetch.h"
#include "daemon/feed/feed.h"

namespace torchwatch::feed {

/// A git branch with one commit per nightly. It has commits only, no builds.
class NightlyBranch final : public Feed {
 public:
  /// Both must outlive it.
  NightlyBranch(config::Options const& options, builds::GitFetch& git_fetch)
      : options_{options},
        git_fetch_{git_fetch} {}

  /// Fetches new commits if this is the watched repository, and reads the branch; blocks on the
  /// disk.
  boost::asio::awaitable<Result<Found>> look() override;

 private:
  config::Options const& options_;
  builds::GitFetch& git_fetch_;
};

}  // namespace torchwatch::feed
