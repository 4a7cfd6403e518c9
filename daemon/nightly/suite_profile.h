#pragma once

#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/measure/rounds.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// Profiles a nightly's benchmarks on GPU fleets, once in `measure.profile_nights` nightlies.
/// Records which share of an iteration the device computes, moves data and idles. It gives no
/// verdict. Single-threaded.
class SuiteProfile {
 public:
  /// All arguments must outlive it.
  SuiteProfile(config::Options const& options, storage::Store& store, measure::Rounds& rounds)
      : options_{options},
        store_{store},
        rounds_{rounds} {}

  /// Does nothing when it is not due, or no fleet has GPUs. An Error means that another attempt may
  /// succeed, and continues then.
  boost::asio::awaitable<Result<>> run(Nightly const& nightly);

 private:
  std::vector<config::FleetOptions> gpu_fleets() const;
  bool is_due(Nightly const& nightly) const;

  config::Options const& options_;
  storage::Store& store_;
  measure::Rounds& rounds_;
};

}  // namespace torchwatch::nightly
