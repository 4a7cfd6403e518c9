#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "storage/domain/incident.h"
#include "storage/domain/trust_figures.h"

namespace torchwatch::storage {

class Database;

/// The verdicts of confirmed comparisons, the incidents that result, and the progress of publishing
/// them. Throws SQLite::Exception when the disk fails.
class Incidents {
 public:
  explicit Incidents(Database& database) : database_{database} {}

  /// Stores the verdict on one series of a nightly. The first verdict stays.
  void record(NightlyId nightly, SeriesChange const& change);
  /// Returns all verdicts on a nightly.
  std::vector<SeriesChange> verdicts(NightlyId nightly) const;
  /// Returns the verdicts of all nightlies on a benchmark, in the order announced.
  std::vector<NightlyVerdict> verdicts_of(FleetBenchmark const& which) const;

  /// Returns the newest regression or improvement of each series.
  std::vector<NightlyVerdict> last_changes() const;

  /// Stores the verdict on one series of a nightly's self-comparison. The first verdict stays.
  void record_aa(NightlyId nightly, SeriesChange const& change);
  /// Returns the results of all self-comparisons by month. Months without any are absent. Reads the
  /// rows of all nightlies; Trust::aa_months() returns stored figures.
  std::vector<AaMonth> aa_months() const;
  /// Returns the self-comparisons of the last `nightlies` nightlies, in their order.
  std::vector<NightlyVerdict> newest_aa(int nightlies) const;

  /// Returns the numbers of verdicts on the last `nightlies` nightlies, by kind and pairs. Reads
  /// the rows of all these nightlies; Trust::costs() returns stored figures.
  std::vector<VerdictCost> costs(int nightlies) const;

  /// Opens the incident between two nightlies, or returns the one that exists. Its changes are the
  /// nightly's verdicts `regression` that are not muted and were not added to another incident.
  /// `baseline`: the oldest nightly that one of their series was compared with.
  Incident open(NightlyId baseline, NightlyId nightly, Timestamp now);

  /// A regression of a nightly, and the earlier incident that it belongs to.
  struct Addition {
    IncidentId incident;
    IncidentSeries series;
  };

  /// Adds regressions of nightlies to earlier incidents, all or nothing. An addition of the same
  /// series of the same nightly stays.
  void add_series(std::vector<Addition> const& additions);

  /// Returns the regressions of a nightly that belong to earlier incidents.
  std::map<Series, IncidentId> added_series(NightlyId nightly) const;

  /// Adds series of `later` to `earlier`, and moves the bisections of these series. When no series
  /// is left, `later` has joined `earlier`: no function returns it any more. All or nothing.
  void join(Incident const& later, IncidentId earlier, std::vector<Series> const& series);

  /// Stores comparisons of the last good builds of series with a later nightly, all or nothing. The
  /// first one of a series and nightly stays.
  void record_recoveries(IncidentId incident, std::vector<SeriesRecovery> const& compared);
  /// Returns all stored comparisons with the last good builds, also of series that were not back.
  std::vector<SeriesRecovery> compared_recoveries(IncidentId incident) const;
  /// Returns the newest comparison of each series that is back now.
  std::vector<SeriesRecovery> recoveries(IncidentId incident) const;

  /// Stores the result of a later edition of the nightly's file. `joined`: the edition, if it has
  /// regressions, too. of_nightly() then returns this incident for both.
  void correct(IncidentId id, std::optional<NightlyId> joined, std::string const& correction);

  /// Returns the incidents for which stored facts may lead to another event, oldest first. These
  /// are the unfinished ones. Others: without an event, with a ruling that differs from the state,
  /// with a result of a bisection, a correction or a series that no event has.
  std::vector<Incident> changing() const;

  /// Returns the incidents that a nightly may still end, newest first (is_unfinished).
  std::vector<Incident> unfinished() const;

  /// Returns the times of all incidents, in the order of their nightlies. Reads the events of all
  /// incidents; Trust::incident_months() returns stored figures.
  std::vector<IncidentTimes> times() const;

  /// Returns the number of incidents.
  std::int64_t count() const;
  /// Returns all incidents, newest first.
  std::vector<Incident> all() const;
  std::optional<Incident> find(IncidentId id) const;
  /// Returns the incident that opened at a nightly. Else that of which the nightly is an edition.
  /// Else the newest earlier one that regressions of the nightly belong to.
  std::optional<Incident> of_nightly(NightlyId nightly) const;
  /// Returns all incidents that have regressions of the nightly, in the order of of_nightly().
  std::vector<Incident> all_of_nightly(NightlyId nightly) const;

  /// Returns the incident whose report has `key`.
  std::optional<Incident> of_report(std::string const& key) const;

  /// Returns the incident whose report was published at `place`, the issue's URL.
  std::optional<Incident> reported_at(std::string const& place) const;
  /// Returns when the newest incident with an issue was opened; nothing without one.
  std::optional<Timestamp> newest_issue_opened_at() const;

  /// Stores the key by which the report can be found. Call it before publishing.
  void intend_report(IncidentId id, std::string const& key);

  /// Stores the time before which no request may be sent to GitHub.
  void pause_github(Timestamp end);
  /// Returns the end of the last pause, or 1970 without one.
  Timestamp github_pause_end() const;

  /// Stores where the report was published. Call it after publishing.
  void reported(IncidentId id, std::string const& place);

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
