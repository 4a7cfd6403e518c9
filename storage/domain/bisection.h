#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/clock.h"
#include "storage/base/ids.h"
#include "storage/domain/benchmark.h"
#include "storage/domain/build.h"
#include "storage/domain/comparison.h"

namespace torchwatch {

/// Which way a value must move to count. `increase` is slower or fatter.
enum class Direction { increase, decrease, both };

/// What a bisection believes of its suspects before it reads anything.
enum class Prior {
  uniform,  ///< all are alike
  paths,    ///< those that touched what hardly reaches a benchmark are less likely
};

enum class BisectionState {
  queued,
  running,
  paused,     ///< by a person, until one resumes it
  cancelled,  ///< by a person, for good
  done,
  failed,
};

/// What a step measures: packages that a feed announced, where they lie between the ends, and then
/// commits as the recipe builds them.
enum class BisectionStage { nightlies, commits };

/// How a bisection ended.
enum class BisectionOutcome {
  culprit,         ///< every change in the direction asked for has one commit, proved against its
                   ///< parent
  range,           ///< one lies among commits that cannot be told apart, or its proof failed
  environment,     ///< the nightlies at the ends differ, and their commits built alike do not: what
                   ///< the nightlies were built or packed with does
  not_reproduced,  ///< the two ends do not differ when measured again
  layout,     ///< they do, by builds alone: what looked like a change is not there when the same
              ///< commits are built with another layout
  undecided,  ///< it ended before it was sure
};

/// It goes on by itself: no person has stopped it, and it has not ended.
bool is_active(BisectionState state);

/// Nobody can make it go on any more.
bool has_ended(BisectionState state);

std::string_view to_string(Direction direction);
std::string_view to_string(Prior prior);
std::string_view to_string(BisectionState state);
std::string_view to_string(BisectionOutcome outcome);
std::string_view to_string(BisectionStage stage);
std::optional<Direction> parse_direction(std::string_view text);
std::optional<Prior> parse_prior(std::string_view text);
std::optional<BisectionState> parse_bisection_state(std::string_view text);
std::optional<BisectionOutcome> parse_bisection_outcome(std::string_view text);
std::optional<BisectionStage> parse_bisection_stage(std::string_view text);

/// What to look for. Two requests that are equal ask for the same bisection.
struct BisectionRequest {
  CommitSha start;             ///< known good, not a suspect
  CommitSha end;               ///< known bad, the newest suspect
  std::vector<Series> series;  ///< at least one
  double threshold = 0.07;     ///< relative change that counts
  Direction direction = Direction::increase;
  Prior prior = Prior::uniform;
};

/// How the end of a bisection descends from its start, where it lacks commits of it.
struct Ancestry {
  CommitSha base;   ///< the newest commit that both have
  int missing = 0;  ///< commits between it and the start, which the end lacks; at least 1
  int added = 0;    ///< commits between it and the end; 0: the end is older than the start
  friend bool operator==(Ancestry const&, Ancestry const&) = default;
};

/// The merge that a bisection searches: another bisection proved it to be a culprit.
struct SearchedMerge {
  BisectionId outer;  ///< the other bisection
  CommitSha merge;
  int merged = 0;  ///< commits that it brought besides itself; at least 1
  friend bool operator==(SearchedMerge const&, SearchedMerge const&) = default;
};

/// What a person asks for.
struct BisectionOrder {
  BisectionRequest request;
  std::optional<IncidentId> incident;  ///< whose search it is; nothing: nobody's
};

/// By fleet: the standard deviation of the logarithms of times between builds of one commit. Fleets
/// without enough measurements are not in it.
using BuildVariation = std::map<std::string, double>;

/// One metric of one round, in the metric's unit: the level of each build.
struct MetricLevels {
  Metric metric = Metric::latency;
  std::vector<double> levels;
  friend bool operator==(MetricLevels const&, MetricLevels const&) = default;
};

/// What was believed of a series after a step.
struct SeriesBelief {
  Series series;
  double no_change = 0;  ///< probability that nothing changed it
  /// Where a change lies most likely, suspects in a row, and how likely. The first of them is not
  /// told apart from the last.
  CommitSha first;
  CommitSha last;
  double probability = 0;
  friend bool operator==(SeriesBelief const&, SeriesBelief const&) = default;
};

/// One thing that a bisection did: builds were measured beside each other, or could not be. Stored
/// when it is planned and again when it is done.
struct BisectionStep {
  int wave = 0;  ///< steps of one wave were made side by side
  BisectionStage stage = BisectionStage::commits;
  std::string fleet;
  Benchmark benchmark;
  std::vector<CommitSha> commits;  ///< in ancestry order
  std::string reason;              ///< why these: "check that the ends differ"
  bool is_done = false;
  std::vector<MetricLevels> readings;  ///< levels in the order of `commits`; none if it failed
  std::optional<CommitSha> skipped;    ///< the one that could not be built or measured
  bool is_unbuilt = false;             ///< it was the build: no benchmark has it
  std::string note;                    ///< why not: "recipe: exit status 125, see ..."
  std::vector<SeriesBelief> beliefs;   ///< of all series, after this wave
};

/// What a commit, or one of several, did to a series.
struct Effect {
  Series series;
  double before = 0;  ///< level, as the bisection saw it, in the metric's unit
  double after = 0;
  double probability = 0;           ///< of the answer given for the series
  std::optional<Comparison> proof;  ///< the commit against its parent
  double share = 0;                 ///< of the change between the ends, that the proof shows
  std::optional<Comparison> revert_check{};  ///< the end against the end with the commit reverted
  /// As `proof`, both built again with another layout: order of links, padding, environment.
  std::optional<Comparison> rebuilt{};
  bool is_doubted = false;  ///< both show it, and yet builds differ too much by themselves
};

/// An incident whose culprit landed again later.
struct EarlierIncident {
  IncidentId id;
  std::string date;    ///< of its nightly, "YYYY-MM-DD"
  std::string report;  ///< an issue's URL or a file's path; empty before it is published
};

/// A culprit, or a range of commits that cannot be told apart and hold one.
struct Finding {
  /// Oldest first; never empty. Those that the end lacks come first, newest first.
  std::vector<Commit> suspects;
  std::vector<Effect> effects;  ///< the largest first; never empty
  /// Why there is no revert check: the culprit could not be reverted on the end and measured. Empty
  /// when it was, or when nobody tried.
  std::string no_revert_check{};
  bool is_gradual = false;  ///< no single commit did it: many of the suspects did, each a little
  /// The trunk commit that reverted a lone suspect, as known when the bisection ended. Absent where
  /// there was none, or where the trunk has the change again.
  std::optional<CommitSha> reverted_by{};
  /// GitHub names of the users who approved the pull request of a lone suspect.
  std::vector<std::string> approvers{};
  /// The newest earlier incident whose culprit has the title or pull request of a lone suspect.
  std::optional<EarlierIncident> earlier{};
  /// So many of its suspects, the first ones, are commits that the end lacks: without them a series
  /// is as the effects say. Their proof compares the build without the commit with the one with it.
  int missing = 0;
  int merged = 0;  ///< commits that a lone suspect brought besides itself; 0: it is not a merge
  /// The bisection that searches what a lone suspect merged. Read from the store, not written.
  std::optional<BisectionId> searched_by{};
};

/// What to call a finding.
enum class FindingKind {
  improvement,  ///< made everything that it moved better
  culprit,      ///< one commit, proved to have made something worse
  range,        ///< one of these commits made something worse; it may be one without a proof
  gradual,      ///< many of these commits made something worse, each a little
  layout,       ///< one build of this commit was worse, and another was not: nothing the commit did
};

/// The proof shows a change, in both layouts if it was made in two.
bool is_proved(Effect const& effect);

/// The proof shows an increase. Nobody is called a culprit for anything else.
bool made_worse(Effect const& effect);

/// The proof shows a change that is not there, or goes the other way, when both commits are built
/// with another layout.
bool is_layout(Effect const& effect);

/// What each suspect of a gradual change did on average, as a ratio: 1.01 is 1% more. The effect
/// has positive levels.
double ratio_per_suspect(Finding const& finding, Effect const& effect);

/// Reverting the commit moves the series the other way.
bool is_undone_by_revert(Effect const& effect);

/// One commit, proved on at least one series, whichever way that moved.
bool is_culprit(Finding const& finding);

/// Less is better of every metric, so what went down is an improvement, whatever was asked for; a
/// finding is one only when all its effects are. A proof outweighs what the bisection saw: once
/// there is one, only proved effects count. The one answer for all texts.
FindingKind kind_of(Finding const& finding);
std::string_view to_string(FindingKind kind);

/// The nightlies at the ends of a bisection, where one of them has another build than the bisection
/// made: by another recipe, or elsewhere. One of the two lists holds something.
struct Packages {
  /// What the builds of the nightlies differ by, beside their commits: "- gcc 12" is of the start's
  /// alone, "+ gcc 13" of the end's.
  std::vector<std::string> differences;
  /// These builds compared again; empty unless no change was found between their commits.
  std::vector<SeriesChange> changes;
};

/// The steps of a bisection, without what they are.
struct StepTally {
  int planned = 0;  ///< all of them
  int done = 0;
};

/// The bisection of an incident, or one that a person asked for.
struct Bisection {
  BisectionId id;
  std::optional<IncidentId> incident;
  BisectionRequest request;
  BisectionState state = BisectionState::queued;
  RecipeId recipe{};                 ///< of all commits that it built; 0 before it builds any
  std::vector<BisectionStep> steps;  ///< in the order planned
  std::optional<BisectionOutcome> outcome;
  std::vector<Finding> findings;  ///< what moved the way asked for first, then by size
  std::optional<Packages> packages{};
  std::string failure;
  Timestamp asked_at{};
  /// Nothing where the end has all commits of the start, and before the bisection begins.
  std::optional<Ancestry> ancestry{};
  /// Nothing where it does not search a merge.
  std::optional<SearchedMerge> inside{};
};

/// It measured something, and built no commit.
bool measured_nightlies_alone(Bisection const& bisection);

}  // namespace torchwatch
