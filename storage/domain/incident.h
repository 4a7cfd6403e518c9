#pragma once

#include <string>
#include <vector>

#include "storage/domain/bisection.h"
#include "storage/domain/build.h"
#include "storage/domain/clock.h"
#include "storage/domain/comparison.h"
#include "storage/domain/ids.h"
#include "storage/domain/ruling.h"

namespace torchwatch {

/// One confirmed regression event: all series that moved between the same two builds.
struct Incident {
  IncidentId id;
  NightlyId baseline;
  NightlyId nightly;
  std::vector<SeriesChange> changes;
  std::string report;  ///< where it was told: an issue's URL or a file's path; empty until then
  Timestamp opened_at{};
};

/// Everything a report tells: an incident with the records it points to.
struct IncidentStory {
  Incident incident;
  Nightly baseline;  ///< the control
  Nightly nightly;   ///< the treatment
  std::vector<Bisection> bisections;
  std::vector<Ruling> rulings;   ///< in the order given
  std::string fingerprint;       ///< JSON object of the host that measured
  std::string baseline_pytorch;  ///< PyTorch's version as measured
  std::string nightly_pytorch;
};

}  // namespace torchwatch
