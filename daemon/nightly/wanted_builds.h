#pragma once

#include <optional>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "daemon/builds/build_store.h"
#include "daemon/nightly/preparation.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// Removed builds that a user requested back. Single-threaded.
class WantedBuilds {
 public:
  /// All arguments must outlive it.
  WantedBuilds(storage::Store& store, Preparation& preparation, builds::BuildStore& builds)
      : store_{store},
        preparation_{preparation},
        builds_{builds} {}

  /// Fetches or makes each requested build, and pins it. A build that fails for now is retried by
  /// the next call. A request that cannot be met is dropped, and the log shows why. Returns the new
  /// builds.
  boost::asio::awaitable<std::vector<KeptBuild>> bring();

 private:
  boost::asio::awaitable<std::optional<KeptBuild>> bring(WantedBuild wanted);

  storage::Store& store_;
  Preparation& preparation_;
  builds::BuildStore& builds_;
};

}  // namespace torchwatch::nightly
