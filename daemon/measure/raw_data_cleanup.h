#pragma once

#include <set>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "storage/store.h"

namespace torchwatch::measure {

/// Whose processes are still needed, one by one.
struct NeededProcesses {
  std::set<NightlyId> nightlies;
  std::set<BisectionId> bisections;
};

/// Those of the nightlies that have not ended, of the `raw_nights` newest that are done and of what
/// came since, and of all with an incident; of bisections that have not ended, or were asked for
/// since the first of those nights. Throws what the store throws.
NeededProcesses needed_processes(storage::Store& store, int raw_nights);

/// Which of `campaigns` nobody needs: proofs and profiles stay, and what is not known. Pure.
std::vector<Campaign> forgettable(std::vector<Campaign> campaigns, NeededProcesses const& needed);

/// Forgets processes of which only what their night came to is needed, `store.raw_nights` nights
/// later. Cut off anywhere, it goes on with the next call. Single-threaded.
class Forgetting {
 public:
  /// Both must outlive it.
  Forgetting(storage::Store& store, config::StoreOptions const& options)
      : store_{store},
        options_{options} {}

  /// Some thousand processes at most, in small steps between which others go on. Returns how many.
  boost::asio::awaitable<int> forget();

 private:
  boost::asio::awaitable<void> forget_hosts();

  storage::Store& store_;
  config::StoreOptions const& options_;
};

}  // namespace torchwatch::measure
