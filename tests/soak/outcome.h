#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "storage/domain/build.h"
#include "storage/domain/metric.h"
#include "tests/soak/resources.h"

namespace torchwatch::soak {

/// An incident as the service stored it. Days are those on which it happened.
struct FoundIncident {
  std::string model;  ///< model of its first series
  std::vector<Metric> metrics;
  std::size_t opened = 0;
  std::vector<std::size_t> explained{};
  std::vector<std::size_t> closed{};
  CommitSha culprit{};    ///< proved by a bisection; empty: none
  bool is_fixed = false;  ///< at the end
  bool is_issue_closed = false;
};

/// The messages that reached GitHub.
struct Published {
  std::size_t issues = 0;
  std::size_t lost = 0;    ///< messages that were given up or are not there
  std::size_t twice = 0;   ///< comments that are there more than once
  std::size_t unsent = 0;  ///< messages that still wait
};

/// The results of a soak test.
struct Outcome {
  std::vector<FoundIncident> incidents;  ///< oldest first
  std::vector<CommitSha> culprits;       ///< commits of the planted changes, in the plan's order
  Published published;
  std::size_t drift_alarms = 0;  ///< for the series that drifts
  std::size_t other_drift_alarms = 0;
  std::size_t days_not_judged = 0;     ///< nightlies that have not ended
  std::vector<std::size_t> processes;  ///< processes of each day
  std::vector<Resources> samples;      ///< at the start, in the middle and at the end
  int kills = 0;
  int failed_writes = 0;  ///< because the disk was full
  int failed_passes = 0;
  double seconds = 0;
};

}  // namespace torchwatch::soak
