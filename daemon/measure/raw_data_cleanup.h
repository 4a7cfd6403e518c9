#pragma once

#include <set>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "storage/store.h"

namespace torchwatch::measure {

/// The nightlies and bisections whose raw samples are still needed.
struct NeededProcesses {
  std::set<NightlyId> nightlies;
  std::set<BisectionId> bisections;
};

/// Returns what still needs raw samples. These are nightlies that have not ended, the `raw_nights`
/// newest that are done and all later ones, and all with an incident. They are also bisections that
/// have not ended, or were requested since the first of those nightlies. Throws what the store
/// throws.
NeededProcesses needed_processes(storage::Store& store, int raw_nights);

/// Returns the campaigns whose raw samples may be deleted: not proofs, profiles and unknown
/// campaigns. Pure.
std::vector<Campaign> deletable_campaigns(std::vector<Campaign> campaigns,
                                          NeededProcesses const& needed);

/// Deletes the raw samples of processes, `store.raw_nights` nightlies later. Keeps the nightly
/// summaries. Can be killed at any instruction: the next call continues. Single-threaded.
class RawDataCleanup {
 public:
  /// Both must outlive it.
  RawDataCleanup(storage::Store& store, config::StoreOptions const& options)
      : store_{store},
        options_{options} {}

  /// Deletes the raw samples of some thousand processes at most, in small steps between which other
  /// coroutines run. Returns the number of processes.
  boost::asio::awaitable<int> delete_raw_samples();

 private:
  boost::asio::awaitable<void> delete_hosts();

  storage::Store& store_;
  config::StoreOptions const& options_;
};

}  // namespace torchwatch::measure
