#pragma once

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
  NightlyId baseline;
  NightlyId nightly;
  std::vector<SeriesChange> changes;
  std::string
      report;  ///< where it was published: an issue's URL or a file's path; empty until then
  Timestamp opened_at{};
  /// What a later edition of the nightly's file came to, for people; empty: there is none.
  std::string correction;
};

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
  Nightly baseline;  ///< the control
  Nightly nightly;   ///< the treatment
  std::vector<Bisection> bisections;
  std::vector<Ruling> rulings;  ///< in the order given
  /// By fleet and benchmark; those whose time moved most first.
  std::vector<OperatorChange> operators;
  std::string fingerprint;       ///< JSON object of the host that measured
  std::string baseline_pytorch;  ///< PyTorch's version as measured
  std::string nightly_pytorch;
};

}  // namespace torchwatch
