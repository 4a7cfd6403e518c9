#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "bisect/compare/baseline.h"
#include "config/options.h"
#include "daemon/measure/comparison.h"
#include "daemon/measure/rounds.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// Measures every configured benchmark on a nightly, next to the baselines of its series: that of
/// the nightly, or the last nightly that judged the series. Single-threaded.
class Sweep {
 public:
  /// All arguments must outlive it.
  Sweep(config::Options const& options, storage::Store& store, measure::Rounds& rounds)
      : options_{options},
        store_{store},
        rounds_{rounds} {}

  /// Chooses `nightly.baseline` and the older baselines of some series (bisect::series_baselines),
  /// unless they were chosen before, stores them, and measures `sweep_pairs` rounds, on all slots
  /// of all fleets side by side. Notes in `nightly.failure` when no job of the nightly gave a
  /// result: a night without a single number is not a good one. Errors as Rounds::measure's, when
  /// all that the other fleets can do is done.
  boost::asio::awaitable<Result<>> run(Nightly& nightly);

 private:
  /// One round of the sweep on one benchmark.
  struct Task {
    Benchmark benchmark;
    int round = 0;
  };

  /// The builds that are measured next to each other: the baselines, if there are any, and the
  /// nightly.
  struct Builds {
    std::vector<Build> usual;
    std::map<FleetBenchmark, std::vector<Build>> others;  ///< of these benchmarks, in their place
  };

  boost::asio::awaitable<Result<>> run_tasks(std::string fleet,
                                             Nightly const& nightly,
                                             Builds const& builds,
                                             std::deque<Task>& tasks);
  Result<Builds> builds_of(Nightly& nightly);
  Result<std::optional<Build>> choose_baseline(Nightly& nightly);
  Result<> choose_baselines_of_series(Nightly const& nightly, Nightly const& usual);
  std::map<Series, NightlyId> new_baselines(Nightly const& nightly, Nightly const& usual);
  Result<bool> is_usable(Nightly const& nightly, Nightly const& baseline);
  std::string why_nothing_was_measured(Nightly const& nightly);

  config::Options const& options_;
  storage::Store& store_;
  measure::Rounds& rounds_;
};

/// The last nights of the series whose benchmarks are measured.
std::vector<SeriesNights> configured_series(config::Options const& options, storage::Store& store);

/// The series of configured benchmarks that `nightly`, which has ended, did not judge: the
/// benchmark or the metric gave nothing, or the comparison was undecided. A change that it brought
/// is found on the next nightly that judges them. By fleet, benchmark and metric.
std::vector<Series> not_judged(config::Options const& options,
                               storage::Store& store,
                               Nightly const& nightly);

/// The builds of the baselines of those series of a nightly that are not compared with its own
/// baseline. Errors as builds::read_build_of's.
Result<std::map<Series, Build>> builds_of_series(storage::Store& store, Nightly const& nightly);

/// The times that a nightly's sweep measured of it on those of its fleets that are among `fleets`,
/// a group a benchmark.
std::vector<measure::SeriesGroup> swept(storage::Store& store,
                                        Nightly const& nightly,
                                        std::vector<config::FleetOptions> const& fleets);

}  // namespace torchwatch::nightly
