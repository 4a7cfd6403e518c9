#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "bisect/search/posterior.h"

namespace torchwatch::bisect {

/// What it takes to learn something, in seconds.
struct StepCosts {
  double reading = 30;  ///< one process of a build that is there
  /// To have the build of a position: 0 when it is there, or known to be none.
  std::function<double(std::size_t position)> build;
  /// Probability that a build which is not there can be made.
  std::function<double(std::size_t position)> chance;
};

/// What there is to read with.
struct Capacity {
  std::size_t slots = 1;     ///< rounds at once
  std::size_t together = 1;  ///< builds that take turns in a round
};

/// A series that is asked about.
struct Question {
  Belief belief;
  std::vector<double> prior;   ///< weight of each suspect, as in `believe`
  std::size_t benchmark = 0;   ///< series of one benchmark are read by the same processes
  std::set<std::size_t> lost;  ///< positions that give no reading of it
};

/// One round to measure: of which benchmark, which builds beside each other.
struct Measurement {
  std::size_t benchmark = 0;
  std::vector<std::size_t> positions;  ///< ascending, none twice
  double information = 0;              ///< nats that it promises
  double seconds = 0;                  ///< that it takes

  bool operator==(Measurement const&) const = default;
};

/// What to read next, at most `capacity.slots` rounds at once; a measurement may come several
/// times. All questions are about the same suspects. The first measurement is what promises most
/// information about where the changes are per second; a build is shared by all series. The others
/// use what would be idle in the meantime: they take no longer than the first. Empty when nothing
/// promises any. Begins with two readings of each end of each benchmark. Pure.
///
/// Two builds of a round share what it adds to them, so a host whose pace changes from round to
/// round is asked for differences. At least one of them is there already.
///
/// Information is bounded from below with the pairwise distances of Kolchinsky and Tracey 2017,
/// Estimating mixture entropy with pairwise distances: distances of independent readings add up, so
/// several readings are weighed together without integrals.
std::vector<Measurement> plan(std::span<Question const> questions,
                              StepCosts const& costs,
                              Capacity capacity);

}  // namespace torchwatch::bisect
