#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/measure/comparison.h"
#include "daemon/measure/rounds.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// Measures every configured benchmark on a nightly, beside its baseline. Single-threaded.
class Sweep {
 public:
  /// All arguments must outlive it.
  Sweep(config::Options const& options, storage::Store& store, measure::Rounds& rounds)
      : options_{options},
        store_{store},
        rounds_{rounds} {}

  /// Chooses `nightly.baseline`, unless it was chosen before, stores it, and measures `sweep_pairs`
  /// rounds, on all slots of all fleets side by side. Notes in `nightly.failure` when no job of the
  /// nightly gave a result: a night without a single number is not a good one. Errors as
  /// Rounds::measure's, when all that the other fleets can do is done.
  boost::asio::awaitable<Result<>> run(Nightly& nightly);

 private:
  /// One round of the sweep on one benchmark.
  struct Task {
    Benchmark benchmark;
    int round = 0;
  };

  boost::asio::awaitable<Result<>> run_tasks(std::string fleet,
                                             Nightly const& nightly,
                                             std::vector<Build> const& builds,
                                             std::deque<Task>& tasks);
  Result<std::vector<Build>> builds_of(Nightly& nightly);
  Result<std::optional<Build>> choose_baseline(Nightly& nightly);
  std::string why_nothing_was_measured(Nightly const& nightly);

  config::Options const& options_;
  storage::Store& store_;
  measure::Rounds& rounds_;
};

/// The times that a nightly's sweep measured of it on those of its fleets that are among `fleets`,
/// a group a benchmark.
std::vector<measure::SeriesGroup> swept(storage::Store& store,
                                        Nightly const& nightly,
                                        std::vector<config::FleetOptions> const& fleets);

}  // namespace torchwatch::nightly
