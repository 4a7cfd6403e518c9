#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/measure/comparison.h"
#include "daemon/measure/pairs.h"
#include "daemon/measure/rounds.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// Measures every configured benchmark on a nightly, side by side with the baselines of its series.
/// These are the nightly's baseline, or the last nightly that judged the series. Single-threaded.
class Sweep {
 public:
  /// All arguments must outlive it.
  Sweep(config::Options const& options, storage::Store& store, measure::Rounds& rounds)
      : options_{options},
        store_{store},
        rounds_{rounds} {}

  /// Measures `sweep_pairs` rounds, on all slots of all fleets side by side. Meanwhile, quarantined
  /// slots measure check rounds (SlotReview). Before that, chooses
  /// and stores `nightly.baseline` and the older baselines of some series
  /// (bisect::series_baselines), unless that was done before. Sets `nightly.failure` when no job of
  /// the nightly gave a result. Fails as Rounds::measure does, after the other fleets have done all
  /// they can.
  boost::asio::awaitable<Result<>> run(Nightly& nightly);

 private:
  /// One round of the sweep on one benchmark.
  struct Task {
    Benchmark benchmark;
    int round = 0;
  };

  /// The builds that are measured side by side: the baselines, if there are any, and the nightly.
  struct Builds {
    std::vector<Build> usual;
    std::map<FleetBenchmark, std::vector<Build>> others;  ///< used for these benchmarks instead
  };

  boost::asio::awaitable<Result<>> run_tasks(std::string fleet,
                                             Nightly const& nightly,
                                             Builds const& builds,
                                             std::deque<Task>& tasks);
  boost::asio::awaitable<Result<>> check_slot(std::string fleet,
                                              std::size_t slot,
                                              Nightly const& nightly,
                                              Builds const& builds,
                                              std::vector<Benchmark> benchmarks);
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

/// Returns the last nightly summaries of the series whose benchmarks are measured.
std::vector<SeriesNights> configured_series(config::Options const& options, storage::Store& store);

/// Returns the series of configured benchmarks that `nightly`, which has ended, did not judge. The
/// benchmark or the metric had no result, or the comparison was undecided. A change in it is found
/// on the next nightly that judges the series. Sorted by fleet, benchmark and metric.
std::vector<Series> not_judged(config::Options const& options,
                               storage::Store& store,
                               Nightly const& nightly);

/// Returns the baseline builds of those series of a nightly that have another baseline than the
/// nightly. Fails as builds::read_build_of does.
Result<std::map<Series, Build>> builds_of_series(storage::Store& store, Nightly const& nightly);

/// Returns the pairs of the first `rounds` rounds of a nightly, each series next to its baseline.
/// If the baseline disappeared during the sweep, a third commit was measured, too.
measure::SeriesPairs pairs_of(storage::Store& store, ComparedNight const& night, int rounds);

/// Returns the latency; in suites without it, the first noisy metric, or else the first one. The
/// job must have values.
Metric main_metric_of(JobOutcome const& job);

/// Returns one series of each benchmark that a nightly's sweep measured on those of its fleets that
/// are among `fleets`: its latency, or another noisy metric in suites without it.
std::vector<measure::SeriesGroup> swept(storage::Store& store,
                                        Nightly const& nightly,
                                        std::vector<config::FleetOptions> const& fleets);

}  // namespace torchwatch::nightly
