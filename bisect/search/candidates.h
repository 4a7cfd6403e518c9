#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bisect/search/planner.h"

namespace torchwatch::bisect {

/// Hypotheses and gaps with a probability below this are ignored.
inline constexpr double negligible = 1e-4;

/// Returns the prior weight of the suspects between two builds: those that the build at `end` has
/// and the build at `begin` does not have.
double weight(Question const& question, std::size_t begin, std::size_t end);

/// The positions that a plan may read: both ends, the builds next to gaps that may hold a change,
/// and some builds inside the likeliest of these gaps. Their number is bounded by the number of
/// such gaps, not by the number of suspects.
class Candidates {
 public:
  Candidates(std::span<Question const> questions, StepCosts const& costs, std::size_t slots);

  std::vector<std::size_t> const& positions() const { return positions_; }

  /// A part of a gap, between two neighbouring candidates, that may hold the gap's change: the
  /// first candidate that has the change, and the probability.
  struct Cell {
    std::size_t first = 0;
    double probability = 0;
  };

  std::vector<Cell> cells(Question const& question, std::size_t gap) const;

 private:
  void split(Question const& question, std::size_t gap, StepCosts const& costs, std::size_t parts);
  void add_middles(Question const& question, std::size_t begin, std::size_t end);

  std::vector<std::size_t> positions_;
};

}  // namespace torchwatch::bisect
