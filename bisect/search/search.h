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

/// Returns the layout in which to compare a lone suspect with its parent next, for its proof. That
/// is 0, then 1 if layout 0 shows a change and `layouts`, the number of layouts that builds can be
/// made with, is above 1. Returns nothing for several suspects, and when no comparison is left. A
/// suspect is proved when all layouts show the change. Pure.
std::optional<std::size_t> layout_to_compare(Finding const& finding, std::size_t layouts);

/// Returns the options to compare ends that were built again, with at most six pairs. These are
/// enough to show whether builds differ by more than the search believes.
config::DecideOptions to_confirm_ends(config::DecideOptions decide);

/// The commits that may have changed a series.
struct Suspects {
  std::vector<Commit> commits;  ///< the commits after the start up to the end, oldest first
  std::vector<double> prior;    ///< weight of each commit, all positive
};

/// Finds the commits that changed a series, with as few builds and measurements as possible.
///
/// It keeps a probability for each suspect commit, and one for "no change". Each wave (next)
/// measures the pairs of builds that are expected to teach most per second. An existing build costs
/// two processes; a new one also costs its build time. The measured ratio updates the probabilities
/// (learn). A build that is slow like the end makes the suspects before it likelier; one that is
/// fast like the start, the suspects after it. The search of a series stops when one suspect (or
/// none) is likelier than `options.confidence`. Unbuildable commits leave a range of suspects.
///
/// The caller then proves each named commit against its parent, in layout 0 and in layout 1
/// (layout_to_compare). The proven change is taken out of the series (explain). What it leaves
/// unexplained is searched again, for a second culprit.
///
/// Example: 64 suspects, one of them +10%, noise 3%. The ends are measured twice: +9%. The build of
/// suspect 32 is slow, that of 16 fast, that of 24 slow, and so on. Six builds halve the range down
/// to one suspect. The builds next to it are measured again until its probability exceeds 0.99. On
/// average this takes 25 processes and 8 builds, including the ends, and names the right commit in
/// 99.9% of cases (tests/bench/bisect_sim).
///
/// Suspects are numbered from 0, oldest first; the build at position p has the first p of them.
/// Where the end lacks commits of the start, these are suspects as well (go_along).
/// Pure: the same steps give the same findings, so a killed search continues. Not thread-safe.
class Search {
 public:
  /// `suspects` holds at least one commit: those after `request.start` up to `request.end`.
  Search(BisectionRequest const& request,
         Suspects suspects,
         config::DecideOptions const& decide,
         config::BisectOptions const& options,
         BuildVariation builds = {});

  /// Sets the builds: position i + 1 is the build of `builds[i]`, one for each suspect. The first
  /// `missing` suspects are commits of the start that the end lacks, newest first. Each of their
  /// builds lacks one more of them. Call it before learn().
  void go_along(std::vector<Commit> const& builds, std::size_t missing);

  /// The commit that is built at a position.
  CommitSha const& commit_at(std::size_t position) const;
  /// The position at which this commit is built. Throws std::out_of_range if there is none.
  std::size_t position_of(CommitSha const& commit) const;
  /// The first position whose build has the suspect's change. For a suspect that the end lacks, the
  /// first whose build no longer has it. Throws std::out_of_range for a commit that is not a
  /// suspect.
  std::size_t position_after(CommitSha const& suspect) const;

  bool is_end(CommitSha const& commit) const;

  /// The metrics of the series that a step's benchmark measures.
  std::vector<Metric> metrics_of(BisectionStep const& step) const;

  /// The next wave: at most `slots` steps to measure side by side. Empty when every series has its
  /// answer.
  std::vector<BisectionStep> next(StepCosts const& costs, std::size_t slots) const;

  /// Sets the number of the next wave.
  void begin_at(int wave) { waves_ = wave; }

  /// True when every series has its answer.
  bool is_over() const;

  /// True when every series has the answer "no change".
  bool is_unchanged() const;

  /// For each suspect, the expected number of series that it changed.
  std::vector<double> changed() const;

  /// Learns from a finished step. An unbuildable commit between the ends is not requested again,
  /// for any benchmark. A build that could not be measured is tried again, because a single process
  /// may fail. How often depends on the build:
  /// - one that was measured before: until its series have failed more than eight times;
  /// - an end that is unbuildable, or that its benchmark never ran on: twice;
  /// - any other build: once.
  ///
  /// Then the series are dropped, or in the last case the build is skipped for the benchmark.
  void learn(BisectionStep const& step);

  /// The beliefs after the steps so far, one for each series.
  std::vector<SeriesBelief> beliefs() const;

  /// Returns the changes that the answers name and that were not returned before, largest first.
  /// There is one finding for each commit or range, without proofs. Gradual changes have separate
  /// findings.
  std::vector<Finding> find();

  /// Learns from pairs that were measured for a proof: the suspect of a finding against its parent,
  /// both built with `layout`.
  void learn(Series const& series,
             Commit const& suspect,
             std::vector<Pair> const& pairs,
             std::size_t layout = 0);

  /// The series whose ends to compare once more, built with another layout, before the search ends.
  /// Not empty only if the answer of every series is "no change" or gradual: such answers rest on
  /// one build of each end. Left out are series that were confirmed before, and metrics that the
  /// layout does not change. Also left out are fleets where the difference between builds was
  /// measured, because their answers include it. Empty once find() has returned a finding.
  std::vector<Series> to_confirm() const;

  /// Learns from pairs of both ends that were built with `layout`.
  void learn(Series const& series, std::vector<Pair> const& pairs, std::size_t layout);

  /// Takes a finding's proven effects out of its series, sets their shares, and searches the rest.
  /// A series whose proof failed is dropped; its effect gets the probability after the proof.
  void explain(Finding& finding);

  /// Ends the search with these findings, and returns its outcome. Sets their final shares, and
  /// adds the likeliest changes of series without an answer. Sorts changes in the requested
  /// direction first, then larger ones first.
  BisectionOutcome conclude(std::vector<Finding>& findings) const;

 private:
  std::vector<std::size_t> series_of(std::size_t benchmark) const;
  bool names_no_commit(std::size_t series) const;
  std::string reason_for(Measurement const& measurement) const;
  std::string purpose_of(Measurement const& measurement) const;
  void read(std::size_t series, BisectionStep const& step);
  void skip_unmeasured(std::size_t series, std::vector<CommitSha> const& commits);
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
  std::vector<std::pair<std::string, Benchmark>> benchmarks_;  // fleet and benchmark
  SearchState state_;
  std::set<std::pair<std::size_t, Span>> found_;                 // by series
  std::map<std::pair<std::size_t, std::size_t>, int> failures_;  // by benchmark and position
  int waves_ = 0;
  std::size_t rounds_ = 0;
};

}  // namespace torchwatch::bisect
