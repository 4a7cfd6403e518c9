#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/clock.h"
#include "storage/base/ids.h"
#include "storage/domain/bisection.h"
#include "storage/domain/build.h"
#include "storage/domain/comparison.h"
#include "storage/domain/job.h"
#include "storage/domain/ruling.h"

namespace torchwatch {

/// The state of an incident. The class nightly::Life draws them as a state machine.
enum class IncidentState {
  open,          ///< confirmed; its cause is not known yet
  explained,     ///< a bisection found a culprit, a range, the environment or a gradual change
  fix_expected,  ///< the trunk has a commit that should end it
  fixed,         ///< all its series are back at the level before
  partly_fixed,  ///< some of its series are back
  returned,      ///< series of a fixed incident regressed again
  accepted,      ///< a user ruled that the change is intended
  false_alarm,   ///< a user ruled that nothing changed
  stale,         ///< a series is not measured any more
};

/// The kind of a step in the life of an incident.
enum class IncidentEventKind {
  opened,
  explained,      ///< bisections ended; their results are known
  series_joined,  ///< a later nightly confirmed more series of the same change
  fix_expected,
  fixed,
  partly_fixed,
  returned,
  ruled,  ///< a user accepted it or called it a false alarm
  stale,
  answered,  ///< torchwatch replied to a user, or corrected its report: see Incident::correction
};

std::string_view to_string(IncidentState state);
std::optional<IncidentState> parse_incident_state(std::string_view text);
std::string_view to_string(IncidentEventKind kind);
std::optional<IncidentEventKind> parse_incident_event_kind(std::string_view text);

/// True when a nightly may still end the incident: it is neither fixed nor ruled on.
bool is_unfinished(IncidentState state);

/// One step in the life of an incident. Stored once and never changed.
struct IncidentEvent {
  std::int64_t id = 0;  ///< in the order stored, over all incidents
  IncidentId incident;
  IncidentEventKind kind = IncidentEventKind::opened;
  IncidentState state = IncidentState::open;  ///< the state afterwards
  std::optional<NightlyId> nightly{};         ///< the nightly that showed it
  CommitSha commit{};                         ///< the commit that it is about; empty: none
  std::string detail{};                       ///< for people, plain text
  Timestamp at{};
  /// The ended bisections whose results it reports, in the order requested.
  std::vector<BisectionId> bisections{};
};

/// A regression that a later nightly confirmed and that belongs to an earlier incident.
struct IncidentSeries {
  NightlyId nightly;
  Series series;
  bool is_return = false;  ///< the incident had this series, and was fixed; else the series is new
};

/// The comparison that shows that a series of an incident is back: the last good build next to a
/// later nightly. Its verdict is `unchanged` or `improvement`.
struct SeriesRecovery {
  Series series;
  NightlyId nightly;
  Comparison comparison;
};

/// One confirmed change: all series that regressed between the same two builds, and those that
/// joined later.
struct Incident {
  IncidentId id;
  NightlyId baseline;  ///< the oldest nightly that its series were compared with
  NightlyId nightly;
  /// Each of its series once, with the comparison that confirmed it first: those of its nightly,
  /// then those that joined later.
  std::vector<SeriesChange> changes;
  std::string report;  ///< the issue's URL or the file's path; empty before it is published
  Timestamp opened_at{};
  IncidentState state = IncidentState::open;
  /// The key of its report (github::key_of), stored when the incident was opened. Empty before.
  std::string report_key{};
  /// The result of a later edition of the nightly's file, for people. Empty without one.
  std::string correction{};
  /// The baselines of the series that were compared with another nightly than `baseline`.
  std::map<Series, NightlyId> later_baselines{};
  /// The regressions of later nightlies that belong to it, in the order of nightlies.
  std::vector<IncidentSeries> later_series{};
};

/// The nightly that a series of the incident was compared with.
inline NightlyId baseline_of(Incident const& incident, Series const& series) {
  auto const later = incident.later_baselines.find(series);
  return later == incident.later_baselines.end() ? incident.baseline : later->second;
}

/// True when the nightly is the incident's nightly or a baseline of any of its series.
inline bool is_end_of(Incident const& incident, NightlyId nightly) {
  return nightly == incident.baseline || nightly == incident.nightly ||
         std::ranges::any_of(incident.later_baselines,
                             [&](auto const& later) { return later.second == nightly; });
}

/// The cost of an operator in one iteration of a benchmark, on both builds of an incident. It is
/// zero on a build that does not call the operator.
struct OperatorChange {
  std::string fleet;
  Benchmark benchmark;
  OperatorCost before;
  OperatorCost after;
};

/// The data of a report: an incident with the records that it refers to.
struct IncidentStory {
  Incident incident;
  Nightly baseline;
  Nightly nightly;
  std::map<NightlyId, Nightly> later_baselines{};  ///< the nightlies of incident.later_baselines
  std::vector<Bisection> bisections;
  std::vector<Ruling> rulings;               ///< in the order given
  std::vector<IncidentEvent> events{};       ///< in the order stored
  std::vector<SeriesRecovery> recoveries{};  ///< the series that are back now
  /// The nightlies that the events, recoveries and later series name.
  std::map<NightlyId, Nightly> nightlies{};
  /// Ordered by fleet and benchmark, then by change of time, largest first.
  std::vector<OperatorChange> operators;
  std::string fingerprint;       ///< JSON object of the host that measured
  std::string baseline_pytorch;  ///< PyTorch's version that the workers reported
  std::string nightly_pytorch;
};

}  // namespace torchwatch
