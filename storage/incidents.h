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

/// Verdicts of confirmed comparisons, the incidents they make, and how far each has been published.
/// Throws SQLite::Exception when the disk fails.
class Incidents {
 public:
  explicit Incidents(SQLite::Database& database) : database_{database} {}

  /// Keeps the verdict on one series of a nightly; a verdict is given once.
  void record(NightlyId nightly, SeriesChange const& change);
  /// All verdicts on a nightly, whatever they are.
  std::vector<SeriesChange> verdicts(NightlyId nightly) const;
  /// Those on a benchmark of all nightlies, in the order announced.
  std::vector<NightlyVerdict> verdicts_of(FleetBenchmark const& which) const;

  /// Of each series the newest verdict that found a change, whichever way.
  std::vector<NightlyVerdict> last_changes() const;

  /// The same of a build compared with itself on the night of `nightly`, which judges the judge.
  void record_aa(NightlyId nightly, SeriesChange const& change);
  /// All of them, by month; one without such comparisons is not there. Walks through all nights, as
  /// does costs(); Trust has both as of the last night.
  std::vector<AaMonth> aa_months() const;
  /// Those of the last `nightlies` nightlies, in their order.
  std::vector<NightlyVerdict> newest_aa(int nightlies) const;

  /// Of the verdicts on the last `nightlies` nightlies, by kind and pairs.
  std::vector<VerdictCost> costs(int nightlies) const;

  /// Opens the incident between two nightlies, or finds the one that is open. Its changes are the
  /// nightly's verdicts that say `regression` and are not muted. `baseline`: the oldest nightly
  /// that one of their series was compared with.
  Incident open(NightlyId baseline, NightlyId nightly, Timestamp now);

  /// Stores what a later edition of its nightly's file came to. `joined`: the edition, where it has
  /// regressions, too; the incident is then of_nightly() of both.
  void correct(IncidentId id, std::optional<NightlyId> joined, std::string const& correction);

  /// Those whose published report lacks their correction, in the order opened.
  std::vector<Incident> pending_corrections() const;
  /// Notes that the report has its correction.
  void mark_corrected(IncidentId id);

  /// How many there are.
  std::int64_t count() const;
  /// Every incident, newest first.
  std::vector<Incident> all() const;
  /// Those that were opened at `since` or later, newest first.
  std::vector<Incident> since(Timestamp since) const;
  std::optional<Incident> find(IncidentId id) const;
  /// Also for an edition that joined it.
  std::optional<Incident> of_nightly(NightlyId nightly) const;

  /// The incident that was published under `key`.
  std::optional<Incident> of_report(std::string const& key) const;

  /// Written before it is published: the key under which the report can be found again.
  void intend_report(IncidentId id, std::string const& key);
  /// Written before an issue is sent to GitHub: when. Nothing, once GitHub has answered that it did
  /// nothing for it. A time that is found later belongs to an issue whose answer never came.
  void keep_report_sent(IncidentId id, std::optional<Timestamp> at);
  std::optional<Timestamp> report_sent_at(IncidentId id) const;

  /// Stores until when GitHub wants no requests, whichever they are.
  void pause_github(Timestamp end);
  /// The end of the last such pause; 1970 when there was none.
  Timestamp github_pause_end() const;

  /// Written after: where it is. Marks the ended ones of `bisections` as
  /// reported. The report says that the incident's others are running, so how they end is to be
  /// added to it, whichever way they end.
  void reported(IncidentId id, std::string const& place, std::vector<Bisection> const& bisections);

 private:
  SQLite::Database& database_;
};

}  // namespace torchwatch::storage
