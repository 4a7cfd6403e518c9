#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/measure/rounds.h"
#include "daemon/nightly/fixes.h"
#include "daemon/nightly/life_rules.h"
#include "daemon/nightly/recoveries.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// The life of incidents after they were confirmed. Single-threaded.
///
///     open ──results──► explained ──fix landed──► fix_expected
///      │                    │                          │
///      └─────────┬──────────┴───────────┬──────────────┘
///                │ some series back     │ all series back
///                ▼                      ▼
///          partly_fixed ──────────►   fixed
///                │                      │
///                └──series regressed────┘
///                   again │
///                         ▼
///                     returned ──► fix_expected, partly_fixed, fixed
///
///     each of these ──a user's ruling──► accepted or false_alarm, which are final
///     each but fixed ──a series is not measured any more──► stale ──► partly_fixed, fixed
///
/// `open` also goes to `fix_expected` directly. Results of bisections, series that join and
/// corrections are events that leave the other states as they are.
///
/// Every arrow is one event, stored in one transaction with the state and the messages about it.
/// Events follow from stored facts (next_transition), so each step can be repeated after a kill.
class Life {
 public:
  /// All arguments must outlive it.
  Life(config::Options const& options,
       storage::Store& store,
       Clock const& clock,
       measure::Rounds& rounds)
      : options_{options},
        store_{store},
        clock_{clock},
        recoveries_{options, store, rounds},
        fix_search_{store, options.source} {}

  /// Looks for recoveries on the last judged nightly, and for fixes on the trunk. Stores the events
  /// that follow. Call it after each judged nightly, and at the beginning of each pass. Repeats
  /// nothing for a nightly that was followed before. Fails as Rounds::measure does, after the
  /// events were stored.
  boost::asio::awaitable<Result<>> follow();

  /// Stores all events that follow from stored facts now.
  void advance();

 private:
  /// An incident and what is stored about it.
  struct Case {
    Incident incident;
    std::vector<IncidentEvent> events;
    std::vector<SeriesRecovery> recoveries;
    std::vector<Bisection> unreported;  ///< its bisections that ended and that no event reports
    /// The first of the last `stale_nights` judged nightlies. Absent when there are fewer.
    std::optional<Nightly> oldest;
  };

  boost::asio::awaitable<Result<>> look_for_recoveries();
  bool look_for_fixes();
  Case case_of(Incident incident, std::optional<Nightly> oldest);
  bool advance(Case one);
  bool join(Case const& one);
  bool is_investigated(Incident const& incident);
  LifeFacts facts_of(Case const& one);
  void add_recoveries(LifeFacts& facts, Case const& one);
  std::vector<Series> unmeasured_series(Case const& one);
  bool is_measured_since(Nightly const& oldest, Series const& series);
  void commit(Case const& one, Transition const& next);
  IncidentEvent event_of(Case const& one, Transition const& next);
  void describe_opening(IncidentEvent& event, Case const& one);
  void describe_results(IncidentEvent& event, Case const& one);
  void describe_return(IncidentEvent& event, Case const& one);
  void describe_recovery(IncidentEvent& event, Case const& one);
  void describe_staleness(IncidentEvent& event, Case const& one);

  config::Options const& options_;
  storage::Store& store_;
  Clock const& clock_;
  Recoveries recoveries_;
  FixSearch fix_search_;
  std::optional<NightlyId> followed_{};  ///< the last nightly on which it looked for recoveries
  std::map<IncidentId, LandedCommit> fixes_{};  ///< commits that should end incidents
  /// The last ended nightly and the state when it last looked for a fix of an incident.
  std::map<IncidentId, std::pair<NightlyId, IncidentState>> looked_{};
};

}  // namespace torchwatch::nightly
