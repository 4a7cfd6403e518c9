#pragma once

#include <optional>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "daemon/builds/build_store.h"
#include "daemon/nightly/preparation.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// Builds that were removed and that somebody wants back. Single-threaded.
class WantedBuilds {
 public:
  /// All arguments must outlive it.
  WantedBuilds(storage::Store& store, Preparation& preparation, builds::BuildStore& builds)
      : store_{store},
        preparation_{preparation},
        builds_{builds} {}

  /// Brings each that is wanted, and pins it. One that does not come now is tried again with the
  /// next call; one that cannot come is wanted no more, and the log says why. Returns those that
  /// came.
  boost::asio::awaitable<std::vector<KeptBuild>> bring();

 private:
  boost::asio::awaitable<std::optional<KeptBuild>> bring(WantedBuild wanted);

  storage::Store& store_;
  Preparation& preparation_;
  builds::BuildStore& builds_;
};

}  // namespace torchwatch::nightly
