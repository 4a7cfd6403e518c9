#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "storage/base/clock.h"
#include "storage/base/ids.h"
#include "storage/domain/bisection.h"
#include "storage/domain/build.h"
#include "storage/domain/comparison.h"
#include "storage/domain/job.h"
#include "storage/domain/ruling.h"

namespace torchwatch {

/// One confirmed regression event: all series that moved between the same two builds.
struct Incident {
  IncidentId id;
  NightlyId baseline;  ///< the oldest that its series were compared with
  NightlyId nightly;
  std::vector<SeriesChange> changes;
  std::string
      report;  ///< where it was published: an issue's URL or a file's path; empty until then
  Timestamp opened_at{};
  /// What a later edition of the nightly's file came to, for people; empty: there is none.
  std::string correction;
  /// The nightlies that some of the series were compared with, where these are later than
  /// `baseline`.
  std::map<Series, NightlyId> later_baselines{};
};

/// The nightly that a series of the incident was compared with.
inline NightlyId baseline_of(Incident const& incident, Series const& series) {
  auto const later = incident.later_baselines.find(series);
  return later == incident.later_baselines.end() ? incident.baseline : later->second;
}

/// Whether the incident's series regressed on the nightly, or any was compared with it.
inline bool is_end_of(Incident const& incident, NightlyId nightly) {
  return nightly == incident.baseline || nightly == incident.nightly ||
         std::ranges::any_of(incident.later_baselines,
                             [&](auto const& later) { return later.second == nightly; });
}

/// What an operator cost in one iteration of a benchmark, on both builds of an incident. On a build
/// that does not call it, nothing.
struct OperatorChange {
  std::string fleet;
  Benchmark benchmark;
  OperatorCost before;
  OperatorCost after;
};

/// Everything a report tells: an incident with the records it points to.
struct IncidentStory {
  Incident incident;
  Nightly baseline;                                ///< the control
  Nightly nightly;                                 ///< the treatment
  std::map<NightlyId, Nightly> later_baselines{};  ///< those of the incident
  std::vector<Bisection> bisections;
  std::vector<Ruling> rulings;  ///< in the order given
  /// By fleet and benchmark; those whose time moved most first.
  std::vector<OperatorChange> operators;
  std::string fingerprint;       ///< JSON object of the host that measured
  std::string baseline_pytorch;  ///< PyTorch's version as measured
  std::string nightly_pytorch;
};

}  // namespace torchwatch
