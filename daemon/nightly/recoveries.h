#pragma once

#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/measure/comparison.h"
#include "daemon/measure/pairs.h"
#include "daemon/measure/rounds.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// Measures which series of unfinished incidents are back at the level before. Decisions follow
/// from stored data, so a call can be repeated. Single-threaded.
class Recoveries {
 public:
  /// All arguments must outlive it.
  Recoveries(config::Options const& options, storage::Store& store, measure::Rounds& rounds)
      : options_{options},
        store_{store},
        rounds_{rounds} {}

  /// Compares the last good builds of unfinished incidents with a judged nightly, side by side, on
  /// the series that may be back (may_be_back). Stores each comparison. `unchanged` and
  /// `improvement` mean that the series is back. Skips an incident whose last good build is gone,
  /// and logs why. Fails as Rounds::measure does; what was compared before stays stored.
  boost::asio::awaitable<Result<>> compare(Nightly const& nightly);

 private:
  /// The comparison of an incident's good builds with the nightly on one benchmark.
  struct Task {
    IncidentId incident;
    measure::BuildPair builds;
    measure::SeriesGroup group;
    config::DecideOptions decide;
    measure::ComparisonResult result{};
  };

  std::vector<Task> tasks_of(Nightly const& nightly);
  std::vector<Task> tasks_of(Incident const& incident,
                             std::vector<Series> const& series,
                             Nightly const& nightly);
  measure::SeriesPairs pairs_tonight(Nightly const& nightly);
  std::vector<Series> candidates(Incident const& incident,
                                 Nightly const& nightly,
                                 measure::SeriesPairs const& pairs);
  bool may_be_back_in(SeriesChange const& change,
                      Nightly const& nightly,
                      measure::SeriesPairs const& pairs);
  Result<measure::BuildPair> builds_of(Incident const& incident,
                                       std::vector<Series> const& series,
                                       Nightly const& nightly);
  boost::asio::awaitable<Result<>> measure_all(std::vector<Task>& tasks);
  void record(std::vector<Task> const& tasks, Nightly const& nightly);

  config::Options const& options_;
  storage::Store& store_;
  measure::Rounds& rounds_;
};

}  // namespace torchwatch::nightly
