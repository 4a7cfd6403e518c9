#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "bisect/search/posterior.h"

namespace torchwatch::bisect {

/// The costs of measurements and builds, in seconds.
struct StepCosts {
  double reading = 30;  ///< one process of an existing build
  /// Returns the seconds to make the build of a position; 0 when it exists or is unbuildable.
  std::function<double(std::size_t position)> build;
  /// Returns the probability that a missing build can be made.
  std::function<double(std::size_t position)> chance;
};

/// The rounds and builds that can be measured at a time.
struct Capacity {
  std::size_t slots = 1;     ///< rounds at once
  std::size_t together = 1;  ///< builds that take turns in a round
};

/// A series that is not explained yet.
struct Question {
  Belief belief;
  std::vector<double> prior;   ///< weight of each suspect, as in `believe`
  std::size_t benchmark = 0;   ///< series of one benchmark are read by the same processes
  std::set<std::size_t> lost;  ///< positions that cannot be read for this series
};

/// One round to measure: a benchmark, and the builds that run it side by side.
struct Measurement {
  std::size_t benchmark = 0;
  std::vector<std::size_t> positions;  ///< ascending, none twice
  double information = 0;              ///< expected information, in nats
  double seconds = 0;                  ///< expected duration

  bool operator==(Measurement const&) const = default;
};

/// Returns the measurements to make next, at most `capacity.slots` rounds at once. All questions
/// have the same suspects. Plans start with two readings of each end of each benchmark. Empty when
/// no measurement promises any information. Pure.
///
/// The first measurement promises most information per second about the places of the changes. A
/// build counts for all series. The other measurements use the slots that would be idle meanwhile,
/// so they take no longer than the first. A measurement may occur several times.
///
/// A round adds the same effect to both of its builds. So where a host's pace changes from round to
/// round, rounds measure differences. At least one build of a round exists already.
///
/// Information is a lower bound by the pairwise distances of Kolchinsky and Tracey 2017, Estimating
/// mixture entropy with pairwise distances. Distances of independent readings add up, so several
/// readings are weighed together without integrals.
std::vector<Measurement> plan(std::span<Question const> questions,
                              StepCosts const& costs,
                              Capacity capacity);

}  // namespace torchwatch::bisect
