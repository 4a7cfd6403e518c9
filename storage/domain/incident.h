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

/// One confirmed change: all series that regressed between the same two builds.
struct Incident {
  IncidentId id;
  NightlyId baseline;  ///< the oldest nightly that its series were compared with
  NightlyId nightly;
  std::vector<SeriesChange> changes;
  std::string report;  ///< the issue's URL or the file's path; empty before it is published
  Timestamp opened_at{};
  /// The result of a later edition of the nightly's file, for people. Empty without one.
  std::string correction;
  /// The baselines of the series that were compared with a nightly later than `baseline`.
  std::map<Series, NightlyId> later_baselines{};
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
  std::vector<Ruling> rulings;  ///< in the order given
  /// Ordered by fleet and benchmark, then by change of time, largest first.
  std::vector<OperatorChange> operators;
  std::string fingerprint;       ///< JSON object of the host that measured
  std::string baseline_pytorch;  ///< PyTorch's version that the workers reported
  std::string nightly_pytorch;
};

}  // namespace torchwatch
