#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/domain/incident.h"
#include "storage/domain/trust_figures.h"

namespace SQLite {
class Database;
}

namespace torchwatch::storage {

/// The verdicts of confirmed comparisons, the incidents that result, and the progress of publishing
/// them. Throws SQLite::Exception when the disk fails.
class Incidents {
 public:
  explicit Incidents(SQLite::Database& database) : database_{database} {}

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
  /// nightly's verdicts `regression` that are not muted. `baseline`: the oldest nightly that one of
  /// their series was compared with.
  Incident open(NightlyId baseline, NightlyId nightly, Timestamp now);

  /// Stores the result of a later edition of the nightly's file. `joined`: the edition, if it has
  /// regressions, too. of_nightly() then returns this incident for both.
  void correct(IncidentId id, std::optional<NightlyId> joined, std::string const& correction);

  /// Returns the incidents whose published report lacks their correction, in the order opened.
  std::vector<Incident> pending_corrections() const;
  /// Stores that the report contains its correction.
  void mark_corrected(IncidentId id);

  /// Returns the number of incidents.
  std::int64_t count() const;
  /// Returns all incidents, newest first.
  std::vector<Incident> all() const;
  /// Returns the incidents that were opened at `since` or later, newest first.
  std::vector<Incident> since(Timestamp since) const;
  std::optional<Incident> find(IncidentId id) const;
  /// Returns the incident of a nightly, or of an edition that joined the incident.
  std::optional<Incident> of_nightly(NightlyId nightly) const;

  /// Returns the incident whose report has `key`.
  std::optional<Incident> of_report(std::string const& key) const;

  /// Stores the key by which the report can be found. Call it before publishing.
  void intend_report(IncidentId id, std::string const& key);
  /// Stores when an issue is sent to GitHub. Call it before sending, and again with nothing when
  /// GitHub replied that it did not file the issue. A time that stays means that no reply arrived.
  void keep_report_sent(IncidentId id, std::optional<Timestamp> at);
  std::optional<Timestamp> report_sent_at(IncidentId id) const;

  /// Stores the time before which no request may be sent to GitHub.
  void pause_github(Timestamp end);
  /// Returns the end of the last pause, or 1970 without one.
  Timestamp github_pause_end() const;

  /// Stores where the report was published. Call it after publishing. Marks the ended bisections
  /// among `bisections` as reported, and the incident's others as announced as running, so their
  /// results will be added to the report.
  void reported(IncidentId id, std::string const& place, std::vector<Bisection> const& bisections);

 private:
  SQLite::Database& database_;
};

}  // namespace torchwatch::storage
