#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <vector>

#include "bisect/planning.h"
#include "bisect/posterior.h"

namespace torchwatch::bisect {

/// When to stop asking.
struct Patience {
  double confidence = 0.99;         ///< probability that an answer is right
  std::size_t most_readings = 400;  ///< of a series
};

/// What became of a series.
struct Answer {
  enum class Kind {
    changed,    ///< with `changes`
    unchanged,  ///< the ends do not differ
    open,       ///< patience ended first; `changes` are those most likely
  };

  /// Suspects of which one changed the level, [first, last]: one suspect, or several that cannot be
  /// built apart.
  struct Change {
    std::size_t first = 0;
    std::size_t last = 0;
    double size = 0;  ///< difference of levels
  };

  Kind kind = Kind::open;
  std::vector<Change> changes;
  double probability = 0;  ///< of exactly this answer
};

/// Finds which suspects changed the levels of some series, by asking for readings of builds. Does
/// no I/O: the same readings and skips give the same questions and answers. Suspects are numbered
/// from 0, oldest first; the build at position p has the first p of them. Not thread-safe.
class Inquiry {
 public:
  /// `prior`: weight of each suspect, at least one. One expectation a series.
  Inquiry(std::vector<double> prior, std::vector<Expectation> series, Patience patience);

  /// What to read next; empty when every series has its answer.
  std::vector<Probe> next(Costs const& costs, std::size_t slots) const;

  void add(std::size_t series, std::vector<Reading> const& readings);

  /// The build at `position` cannot be had. Neither end.
  void skip(std::size_t position);

  Belief const& belief(std::size_t series) const { return states_[series].belief; }

  /// Nothing while the series is still asked about.
  std::optional<Answer> answer(std::size_t series) const;

 private:
  struct State {
    Expectation expectation;
    std::vector<Reading> readings;
    Belief belief;
  };

  bool is_final(Belief const& belief, std::size_t gap) const;
  Answer answer_of(Belief const& belief, Hypothesis const& hypothesis) const;

  std::vector<double> prior_;
  std::vector<State> states_;
  Patience patience_;
  std::set<std::size_t> skipped_;
};

}  // namespace torchwatch::bisect
