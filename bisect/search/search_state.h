#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "bisect/search/planner.h"
#include "bisect/search/posterior.h"

namespace torchwatch::bisect {

/// When to stop asking.
struct Patience {
  double confidence = 0.99;  ///< probability of an answer, were no build's processes outliers
  std::size_t most_readings = 400;  ///< of a series
  std::size_t rest_readings = 120;  ///< more of them, to look for what a proven change leaves
  /// After so many, less confidence is enough to say that many commits did it, each a little.
  std::size_t few_readings = 80;
};

/// What became of a series.
struct Answer {
  enum class Kind {
    changed,    ///< with `changes`
    unchanged,  ///< the ends do not differ
    gradual,    ///< many suspects did, each a little: `changes` has one, of all of them
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
  double base = 0;  ///< level of the start
  std::vector<Change> changes;
  /// Of exactly this answer, also that no processes misled it together, which `likeliest` leaves
  /// out; of a gradual change: that it is one, wherever it begins and ends.
  double probability = 0;
};

/// A series to search.
struct SeriesQuery {
  Expectation expectation;
  std::size_t benchmark = 0;  ///< series of one benchmark are measured by the same processes
  int readings = 1;  ///< of a build next to a change, before an answer may rest on that build
};

/// What a search knows by now: the readings of each series, what cannot be built or measured, and
/// the probabilities that follow. It proposes what to measure next, and answers when it is sure.
/// Suspects are numbered from 0, oldest first; the build at position p has the first p of them.
/// Pure: the same readings and skips give the same proposals and answers. Not thread-safe.
///
/// A suspect that is known to have changed one series is a likely one for the others: it gets as
/// much weight as all suspects together have.
class SearchState {
 public:
  /// `prior`: weight of each suspect, at least one.
  SearchState(std::vector<double> prior, std::vector<SeriesQuery> const& series, Patience patience);

  /// What to read next; empty when every series has its answer.
  std::vector<Measurement> next(StepCosts const& costs, Capacity capacity) const;

  void add(std::size_t series, std::vector<Reading> const& readings);

  /// The build at `position` cannot be had. Neither end.
  void skip(std::size_t position);

  /// The build at `position` cannot be read by `benchmark`. Neither end.
  void skip(std::size_t position, std::size_t benchmark);

  /// The build at `position` gives no level of the series, though it may give others. Neither end.
  void skip_in(std::size_t series, std::size_t position);

  /// The series is not asked about any more.
  void drop(std::size_t series);

  /// Takes out what is known for sure: `suspect` changed the series; both builds beside it have
  /// been read. Everything is then about the rest, which `rest` expects. That there is none is also
  /// the answer when one that is at least `large` is out of the question, and a smaller one is
  /// unlikely. A series with more than `most_known` of them is not asked about any more.
  void explain(std::size_t series, std::size_t suspect, Expectation const& rest, double large);

  Belief const& belief(std::size_t series) const { return states_[series].belief; }

  /// Nothing while the series is still asked about.
  std::optional<Answer> answer(std::size_t series) const;

  /// What is most likely now, whether or not that is enough to be an answer.
  Answer likeliest(std::size_t series) const;

 private:
  struct SeriesState {
    SeriesQuery asked;
    std::vector<Reading> readings;
    std::vector<std::size_t> known;  ///< suspects that are explained
    double large = 0;                ///< change that must not be missed in what they leave ...
    double no_large = 0;             ///< ... and the probability that there is none
    std::size_t most_readings = 0;
    bool is_dropped = false;
    std::set<std::size_t> lost;   ///< positions that give no level of this series
    std::set<std::size_t> named;  ///< suspects that changed other series
    Belief belief;
  };

  std::vector<double> prior_of(SeriesState const& state) const;
  void believe_again(SeriesState& state) const;
  std::set<std::size_t> named_by(std::size_t series) const;
  void share_answers();
  std::vector<Measurement> reread(StepCosts const& costs, Capacity capacity) const;
  std::vector<std::size_t> read_too_rarely(SeriesState const& state) const;
  double not_misled(SeriesState const& state) const;
  std::set<std::size_t> lost_to(SeriesState const& state) const;
  bool is_final(SeriesState const& state, Answer const& answer) const;
  bool is_stuck(SeriesState const& state) const;
  bool can_be_cut(SeriesState const& state, std::size_t gap) const;
  bool nothing_large_is_left(SeriesState const& state) const;

  std::vector<double> prior_;
  std::vector<SeriesState> states_;
  Patience patience_;
  std::set<std::size_t> skipped_;
  std::set<std::pair<std::size_t, std::size_t>> unread_;  // benchmark, position
};

}  // namespace torchwatch::bisect
