#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bisect/search/planner.h"

namespace torchwatch::bisect {

/// Hypotheses and gaps below this probability are not worth a thought.
inline constexpr double negligible = 1e-4;

/// Of the suspects that the build at `end` has and the one at `begin` has not.
double weight(Question const& question, std::size_t begin, std::size_t end);

/// What may be read: positions that are there beside gaps that may hold a change, both ends, and
/// some between them in the gaps that do so most likely. Their number is bounded by the number of
/// such gaps, not by that of suspects.
class Candidates {
 public:
  Candidates(std::span<Question const> questions, StepCosts const& costs, std::size_t slots);

  std::vector<std::size_t> const& positions() const { return positions_; }

  /// Where in a gap its change can lie between neighbouring candidates: the first candidate that
  /// has it, and the probability.
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
