#pragma once

#include <optional>
#include <span>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/measure/comparison.h"
#include "daemon/measure/pairs.h"
#include "daemon/nightly/alarms.h"
#include "daemon/nightly/screening.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// The verdicts on one nightly, from its sweep to the incident. Decisions follow from stored data,
/// so a call can be repeated. Single-threaded.
class Verdicts {
 public:
  /// All arguments must outlive it.
  Verdicts(config::Options const& options,
           storage::Store& store,
           Clock const& clock,
           measure::Rounds& rounds,
           Alarms& alarms)
      : options_{options},
        store_{store},
        clock_{clock},
        rounds_{rounds},
        alarms_{alarms} {}

  /// Raises the alarm that there is no baseline any more.
  void cannot_compare(Nightly const& nightly);

  /// Raises the alarms that follow from the sweep.
  void check_sweep(Nightly const& nightly, Nightly const& baseline);

  /// Measures the series that may have grown, next to their baselines, until they are decided. Also
  /// compares a sample of the nightly's benchmarks with themselves, and a share with their anchors.
  /// Logs first how many series may have grown. Stores every verdict. A regression that is not
  /// muted is added to the earlier incident that it belongs to, else to the nightly's incident,
  /// which is opened. Returns true when there is one.
  ///
  /// A later edition of a file opens no incident if an earlier edition has one: it joins that, or
  /// corrects it. A nightly that is judged after a later one opens none, either. Fails as
  /// Rounds::measure does, and when a build is gone.
  boost::asio::awaitable<Result<bool>> confirm(Nightly const& nightly, Nightly const& baseline);

 private:
  /// One comparison, and its result.
  struct Task {
    measure::BuildPair builds;
    measure::SeriesGroup group;
    measure::ComparisonResult result;
  };

  /// The comparisons of a nightly, by purpose.
  struct Plan {
    std::vector<Task> tonight;   ///< with the baselines
    std::vector<Task> self;      ///< with the nightly itself
    std::vector<Task> anchored;  ///< with an older nightly
  };

  Screening screen(Nightly const& nightly, Nightly const& baseline);
  Plan plan(Nightly const& nightly, measure::BuildPair const& builds, Screening const& screening);
  std::vector<Task> anchored_tasks(Nightly const& nightly,
                                   Build const& build,
                                   std::vector<measure::SeriesGroup> const& all);
  std::optional<Build> anchor_of(Nightly const& nightly, measure::SeriesGroup const& group);
  boost::asio::awaitable<Result<>> decide(Plan& plan,
                                          measure::Past const& past,
                                          config::DecideOptions const& options);
  void settle_mutes(std::span<Task> tasks) const;
  bool record(Nightly const& nightly, std::span<Task const> tasks);
  void clear_quiet_ones(Nightly const& nightly, Screening const& screening);
  void record_self(Nightly const& nightly, std::span<Task const> tasks);
  void record_anchored(Nightly const& nightly, std::span<Task const> tasks);
  void settle_incidents(ComparedNight const& night, bool has_regressions);
  Nightly start_of_incident(Nightly const& nightly, Nightly const& baseline);
  void open_incident(Nightly const& nightly, Nightly const& baseline);
  std::optional<Incident> incident_of_edition(Nightly const& nightly);
  void correct(Incident const& incident, Nightly const& edition, bool has_regressions);

  config::Options const& options_;
  storage::Store& store_;
  Clock const& clock_;
  measure::Rounds& rounds_;
  Alarms& alarms_;
};

}  // namespace torchwatch::nightly
