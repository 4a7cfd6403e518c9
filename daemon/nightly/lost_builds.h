#pragma once

#include <set>

#include <boost/asio/awaitable.hpp>

#include "daemon/builds/build_store.h"
#include "daemon/nightly/preparation.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// Builds that the next steps need and whose directory is gone, as after a backup was restored: it
/// has no builds. Only builds in the service's own directory. Single-threaded.
class LostBuilds {
 public:
  /// All arguments must outlive it.
  LostBuilds(storage::Store& store, Preparation& preparation, builds::BuildStore& builds)
      : store_{store},
        preparation_{preparation},
        builds_{builds} {}

  /// Fetches or makes the lost builds of nightlies that are being judged, of their baselines and of
  /// the next baseline; then those of unfinished incidents and of the ends of bisections. Fails
  /// with unavailable when one of the former may still come, for a day: without it, a nightly would
  /// fail or have no baseline. A build that cannot come is given up until the next start.
  boost::asio::awaitable<Result<>> bring();

 private:
  std::set<NightlyId> needed_to_judge();
  std::set<NightlyId> needed_otherwise();
  bool is_lost(Nightly const& nightly) const;
  boost::asio::awaitable<Result<>> bring(NightlyId id);

  storage::Store& store_;
  Preparation& preparation_;
  builds::BuildStore& builds_;
  std::set<NightlyId> given_up_;
};

}  // namespace torchwatch::nightly
