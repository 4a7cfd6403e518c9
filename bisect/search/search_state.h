#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "bisect/search/planner.h"
#include "bisect/search/posterior.h"

namespace torchwatch::bisect {

/// The conditions under which a search stops.
struct Patience {
  double confidence = 0.99;         ///< probability of an answer, if no process is an outlier
  std::size_t most_readings = 400;  ///< most readings of a series
  std::size_t rest_readings = 120;  ///< further readings, to search what a proven change leaves
  /// The number of readings after which less confidence is enough for a gradual answer.
  std::size_t few_readings = 80;
};

/// The result of a series.
struct Answer {
  enum class Kind {
    changed,    ///< the level changed by `changes`
    unchanged,  ///< the ends do not differ
    gradual,    ///< many suspects each contributed a little; `changes` has one that spans them
    open,       ///< the readings ran out first; `changes` are the likeliest
  };

  /// A change of the level by one of the suspects in [first, last]: one suspect, or several that
  /// no build separates.
  struct Change {
    std::size_t first = 0;
    std::size_t last = 0;
    double size = 0;  ///< difference of levels
  };

  Kind kind = Kind::open;
  double base = 0;  ///< level of the start
  std::vector<Change> changes;
  /// Probability of exactly this answer. From answer() it also covers that outliers of one build
  /// misled it; from likeliest() it does not. For a gradual change: that the change is gradual,
  /// with any beginning and end.
  double probability = 0;
};

/// A series to search.
struct SeriesQuery {
  Expectation expectation;
  std::size_t benchmark = 0;  ///< series of one benchmark are measured by the same processes
  int readings = 1;           ///< least readings of a build on which an answer may rest
};

/// The state of a search: the readings of each series, the builds that cannot be made or measured,
/// and the posterior. It proposes the next measurements, and answers when it is sure.
///
/// A suspect that changed one series is likely for the others. Its prior there gets as much weight
/// as all suspects together.
///
/// Suspects are numbered from 0, oldest first; the build at position p has the first p of them.
/// Pure: the same readings and skips give the same proposals and answers. Not thread-safe.
class SearchState {
 public:
  /// `prior` has the weight of each suspect, at least one.
  SearchState(std::vector<double> prior, std::vector<SeriesQuery> const& series, Patience patience);

  /// The next measurements; empty when every series has its answer.
  std::vector<Measurement> next(StepCosts const& costs, Capacity capacity) const;

  void add(std::size_t series, std::vector<Reading> const& readings);

  /// Marks the build at `position` as unbuildable. It is not an end.
  void skip(std::size_t position);

  /// Marks the build at `position` as one that `benchmark` cannot measure. It is not an end.
  void skip(std::size_t position, std::size_t benchmark);

  /// Marks the build at `position` as one without levels for the series. It is not an end.
  void skip_in(std::size_t series, std::size_t position);

  /// Stops the search of the series.
  void drop(std::size_t series);

  /// Takes a proven change out of the series: that of `suspect`, whose neighbouring builds have
  /// both been read. From then on belief and answers are about the rest, with the prior `rest`.
  /// They end with "no change" also when a change of at least `large` is refuted and a smaller one
  /// is unlikely. A series with more than `most_known` proven changes is dropped.
  void explain(std::size_t series, std::size_t suspect, Expectation const& rest, double large);

  Belief const& belief(std::size_t series) const { return states_[series].belief; }

  /// The answer of the series; nothing while it is still searched.
  std::optional<Answer> answer(std::size_t series) const;

  /// The likeliest answer at present, also when its probability is too small for an answer.
  Answer likeliest(std::size_t series) const;

 private:
  struct SeriesState {
    SeriesQuery asked;
    std::vector<Reading> readings;
    std::vector<std::size_t> known;  ///< suspects that are explained
    double large = 0;                ///< smallest change of the rest that must not be missed ...
    double no_large = 0;             ///< ... and the probability that there is none
    std::size_t most_readings = 0;
    bool is_dropped = false;
    std::set<std::size_t> lost;   ///< positions without levels for this series
    std::set<std::size_t> named;  ///< suspects that changed other series
    Belief belief;
  };

  std::vector<double> prior_of(SeriesState const& state) const;
  void update_belief(SeriesState& state) const;
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
  std::set<std::pair<std::size_t, std::size_t>> unread_;  // (benchmark, position)
};

}  // namespace torchwatch::bisect
