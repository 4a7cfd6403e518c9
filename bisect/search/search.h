#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bisect/compare/compare.h"
#include "bisect/search/search_state.h"
#include "bisect/search/searched_series.h"
#include "config/options.h"
#include "storage/domain/bisection.h"

namespace torchwatch::bisect {

/// The layout in which a lone suspect and its parent are to be compared next for its proof: 0, and
/// when that shows a change, 1, both of them built again with another one. Nothing when there is no
/// more to compare, or `layouts`, how many layouts builds can be made with, is 1 and that is done.
/// A suspect is proved when all layouts show the change. Pure.
std::optional<std::size_t> layout_to_compare(Finding const& finding, std::size_t layouts);

/// How to compare ends that were built again: six pairs at most are enough to show whether builds
/// differ by more than they are believed to.
config::DecideOptions to_confirm_ends(config::DecideOptions decide);

/// The commits that may have changed a series.
struct Suspects {
  std::vector<Commit> commits;  ///< what landed after the start up to the end, oldest first
  std::vector<double> prior;    ///< weight of each of them, all positive
};

/// Finds the commits that changed some series, with as few builds and measurements as possible.
///
/// It keeps a probability for each suspect commit, and for "no commit". Each wave (next) is the
/// rounds of two builds that promise most information per second: a build that is there costs two
/// processes, another one its building as well. The measured ratio updates the probabilities
/// (learn): a build that is slow like the end moves them to the suspects before it, one that is
/// fast like the start to those after it. A series has its answer when one suspect, or none, is
/// likelier than `options.confidence`; commits that cannot be built leave a range. The caller
/// compares each named commit with its parent in layout 0, then in layout 1 (layout_to_compare); a
/// proved change is taken out of the series (explain), and what is left is searched again, for a
/// second culprit.
///
/// Example: 64 suspects, one of them +10%, noise 3%. The ends are measured twice: +9%. The build of
/// suspect 32 is slow, 16 fast, 24 slow, ...: six more builds halve the range to one suspect, and
/// the builds next to it are measured again until its probability passes 0.99. On average 25
/// processes and 8 builds, the ends included; the right commit in 99.9% (tests/bench/bisect_sim).
///
/// Suspects are numbered from 0, oldest first; the build at position p has the first p of them.
/// Where the end lacks commits of the start, these are suspects as well (go_along).
/// Pure: the same steps give the same findings, so a killed search continues. Not thread-safe.
class Search {
 public:
  /// `suspects`: at least one, from `request.start` to and including `request.end`.
  Search(BisectionRequest const& request,
         Suspects suspects,
         config::DecideOptions const& decide,
         config::BisectOptions const& options,
         BuildVariation builds = {});

  /// Has the build at position i + 1 be of `builds[i]`, one for each suspect. The first `missing`
  /// suspects are commits of the start that the end lacks, newest first: each of these builds lacks
  /// one more of them. To be called before anything is learned.
  void go_along(std::vector<Commit> const& builds, std::size_t missing);

  /// The commit that is built there.
  CommitSha const& commit_at(std::size_t position) const;
  /// Where this commit is built. Throws std::out_of_range for one that is not.
  std::size_t position_of(CommitSha const& commit) const;
  /// The first position after the suspect's change: where a build has it or, of one that the end
  /// lacks, no longer has it. Throws std::out_of_range for a commit that is no suspect.
  std::size_t position_after(CommitSha const& suspect) const;

  bool is_end(CommitSha const& commit) const;

  /// What a step's benchmark is measured for.
  std::vector<Metric> metrics_of(BisectionStep const& step) const;

  /// The next wave, at most `slots` steps to do side by side; empty when nothing is left to ask.
  std::vector<BisectionStep> next(StepCosts const& costs, std::size_t slots) const;

  /// Counts waves from `wave` on.
  void begin_at(int wave) { waves_ = wave; }

  /// Whether every series has its answer.
  bool is_over() const;

  /// Whether every series has the answer that nothing changed it.
  bool is_unchanged() const;

  /// Of each suspect, how many of the series it is expected to have changed.
  std::vector<double> changed() const;

  /// Learns from a step that is done. What could not be built is not asked for again, by no
  /// benchmark. What could not be measured is asked for again, since one process may fail: a build
  /// that was measured before, or an end, until its benchmark has failed again and again and is not
  /// asked about any more, one that an end never ran after three times; any other build once more.
  void learn(BisectionStep const& step);

  std::vector<SeriesBelief> beliefs() const;

  /// The changes that the answers name and that were not returned before, largest first; one
  /// finding for each commit or range, without proofs. Gradual changes are findings of their own.
  std::vector<Finding> find();

  /// Learns from pairs that were measured for a proof, of the suspect that a finding names against
  /// its parent, both of them built with `layout`.
  void learn(Series const& series,
             Commit const& suspect,
             std::vector<Pair> const& pairs,
             std::size_t layout = 0);

  /// Series whose answer accuses nobody and rests on one build of either end, when no series has
  /// another answer: those to compare at both ends, built again with another layout, before the
  /// search ends with it. None where it was learnt how much builds differ, since answers reckon
  /// with that, of metrics that builds do not move, and once it learned of them or found anything.
  std::vector<Series> to_confirm() const;

  /// Learns from pairs of both ends that were built with `layout`.
  void learn(Series const& series, std::vector<Pair> const& pairs, std::size_t layout);

  /// Takes a finding's proven effects out of its series, whose rest is then asked about; a series
  /// whose proof failed is not asked about any more, and its effect is as probable as the proof
  /// left it. Sets the shares.
  void explain(Finding& finding);

  /// How the search ends with these findings: sets their shares of the changes as these turned out,
  /// adds what is most likely of series that got no answer, and puts what moved the way asked for
  /// first, then what moved most.
  BisectionOutcome conclude(std::vector<Finding>& findings) const;

 private:
  std::vector<std::size_t> series_of(std::size_t benchmark) const;
  bool accuses_nobody(std::size_t series) const;
  std::string reason_for(Measurement const& measurement) const;
  std::string purpose_of(Measurement const& measurement) const;
  void read(std::size_t series, BisectionStep const& step);
  void pass_over(std::size_t series, std::vector<CommitSha> const& commits);
  bool is_measured(std::size_t series, std::size_t position) const;
  void note_failures(std::size_t series, std::size_t count);
  void read_pairs(std::size_t series,
                  std::pair<std::size_t, std::size_t> positions,
                  std::vector<Pair> const& pairs,
                  std::size_t layout);
  void add_to(Finding& finding, Span span, Effect const& effect) const;
  void set_shares(Finding& finding) const;
  std::vector<std::size_t> open_series() const;
  std::vector<Finding> guesses(std::vector<std::size_t> const& open) const;
  SearchedSeries const& line_of(Series const& series) const;
  std::size_t number_of(Series const& series) const;
  double belief_in(std::size_t series, std::size_t suspect) const;
  double size_of(Finding const& finding) const;
  bool is_wanted(Finding const& finding) const;

  std::vector<CommitSha> commits_;  // by position
  std::vector<Commit> suspects_;
  std::size_t missing_ = 0;  // suspects that the end lacks
  Direction direction_;
  BuildVariation builds_;
  double confidence_;
  std::vector<SearchedSeries> lines_;
  std::vector<std::pair<std::string, Benchmark>> benchmarks_;  // with the fleet
  SearchState state_;
  std::set<std::pair<std::size_t, Span>> found_;                 // by series
  std::map<std::pair<std::size_t, std::size_t>, int> failures_;  // of benchmarks, at positions
  int waves_ = 0;
  std::size_t rounds_ = 0;
};

}  // namespace torchwatch::bisect
