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

/// The changes that a bisection looks for. `increase`: more time or memory.
enum class Direction { increase, decrease, both };

/// The weights of the suspects before the first measurement.
enum class Prior {
  uniform,  ///< all suspects are equally likely
  paths,    ///< less likely: suspects that changed only files that benchmarks hardly use
};

enum class BisectionState {
  queued,
  running,
  paused,     ///< stopped by a user until a user resumes it
  cancelled,  ///< stopped by a user permanently
  done,
  failed,
};

/// The builds that a step measures: first nightlies between the ends, as the feed published them,
/// then commits, as the recipe builds them.
enum class BisectionStage { nightlies, commits };

/// The result of a bisection that is done.
enum class BisectionOutcome {
  culprit,         ///< each change in the requested direction has one commit, proved against its
                   ///< parent
  range,           ///< a culprit is one of several commits, or its proof failed
  environment,     ///< the nightlies at the ends differ, but builds of their commits by one recipe
                   ///< do not: the tools or packages of the nightlies cause the change
  not_reproduced,  ///< a new measurement found no difference between the ends
  layout,          ///< the ends differ, but not when they are built with another layout
  undecided,       ///< the bisection ended before it was sure
};

/// True for a queued or running bisection: it continues without a user.
bool is_active(BisectionState state);

/// True for a bisection that is done, failed or cancelled. It cannot be resumed.
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

/// The task of a bisection. Equal requests are requests for the same bisection.
struct BisectionRequest {
  CommitSha start;             ///< known good, not a suspect
  CommitSha end;               ///< known bad, the newest suspect
  std::vector<Series> series;  ///< at least one
  double threshold = 0.07;     ///< relative change that counts
  Direction direction = Direction::increase;
  Prior prior = Prior::uniform;
};

/// The relation of the ends of a bisection when the end lacks commits of the start.
struct Ancestry {
  CommitSha base;   ///< the newest commit that both ends have
  int missing = 0;  ///< commits from the base to the start, which the end lacks; at least 1
  int added = 0;    ///< commits from the base to the end; 0: the end is older than the start
  friend bool operator==(Ancestry const&, Ancestry const&) = default;
};

/// The merge that a bisection searches. Another bisection proved that the merge is a culprit.
struct SearchedMerge {
  BisectionId outer;  ///< the other bisection
  CommitSha merge;
  int merged = 0;  ///< commits that the merge brought, without itself; at least 1
  friend bool operator==(SearchedMerge const&, SearchedMerge const&) = default;
};

/// A user's request for a bisection.
struct BisectionOrder {
  BisectionRequest request;
  std::optional<IncidentId> incident;  ///< the incident that it explains, if any
};

/// The standard deviation of the logarithms of times between builds of one commit, by fleet. Fleets
/// without enough measurements are absent.
using BuildVariation = std::map<std::string, double>;

/// The level of each build in one round, for one metric and in its unit.
struct MetricLevels {
  Metric metric = Metric::latency;
  std::vector<double> levels;
  friend bool operator==(MetricLevels const&, MetricLevels const&) = default;
};

/// The probabilities for a series after a step.
struct SeriesBelief {
  Series series;
  double no_change = 0;  ///< probability that no suspect changed the series
  /// The most likely place of a change: the suspects from `first` to `last`, which the measurements
  /// do not distinguish.
  CommitSha first;
  CommitSha last;
  double probability = 0;  ///< that the change is there
  friend bool operator==(SeriesBelief const&, SeriesBelief const&) = default;
};

/// One round of a bisection, in which builds are measured side by side. Stored when it is planned
/// and again when it is done.
struct BisectionStep {
  int wave = 0;  ///< steps of one wave are measured side by side
  BisectionStage stage = BisectionStage::commits;
  std::string fleet;
  Benchmark benchmark;
  std::vector<CommitSha> commits;  ///< in ancestry order
  std::string reason;              ///< why these commits: "check that the ends differ"
  bool is_done = false;
  std::vector<MetricLevels> readings;  ///< levels in the order of `commits`; none if it failed
  std::optional<CommitSha> skipped;    ///< the commit that could not be built or measured
  bool is_unbuilt = false;             ///< `skipped` has no build, so no benchmark can measure it
  std::string note;                    ///< why it was skipped: "recipe: exit status 125, see ..."
  std::vector<SeriesBelief> beliefs;   ///< one for each series, after this wave
};

/// The change of a series that a finding explains.
struct Effect {
  Series series;
  double before = 0;  ///< level that the bisection estimated, in the metric's unit
  double after = 0;
  double probability = 0;           ///< that the finding is right for the series
  std::optional<Comparison> proof;  ///< the commit against its parent
  double share = 0;                 ///< part of the change between the ends that the proof shows
  std::optional<Comparison> revert_check{};  ///< the end against the end with the commit reverted
  /// As `proof`, with builds in another layout: link order, padding, environment.
  std::optional<Comparison> rebuilt{};
  /// Both proofs show the change, but it is within the variation of builds of one commit.
  bool is_doubted = false;
};

/// An incident whose culprit landed again later.
struct EarlierIncident {
  IncidentId id;
  std::string date;    ///< date of its nightly, "YYYY-MM-DD"
  std::string report;  ///< an issue's URL or a file's path; empty before it is published
};

/// A culprit, or a range of commits that contains one and was not narrowed down.
struct Finding {
  /// Oldest first; never empty. Commits that the end lacks come first, newest first.
  std::vector<Commit> suspects;
  std::vector<Effect> effects;  ///< the largest first; never empty
  /// The reason why a revert check failed: the culprit could not be reverted on the end, or not be
  /// measured. Empty after a revert check, or when none was tried.
  std::string no_revert_check{};
  bool is_gradual = false;  ///< many of the suspects caused the change, each a little
  /// The trunk commit that reverted a lone suspect, as known when the bisection ended. Absent when
  /// there was none, or when trunk contains the change again.
  std::optional<CommitSha> reverted_by{};
  /// GitHub names of the users who approved the pull request of a lone suspect.
  std::vector<std::string> approvers{};
  /// The newest earlier incident whose culprit has the title or pull request of a lone suspect.
  std::optional<EarlierIncident> earlier{};
  /// The number of suspects that the end lacks; they come first. Their absence causes the effects.
  /// Their proof compares the build without the commit with the one with it.
  int missing = 0;
  int merged = 0;  ///< commits that a lone suspect brought, without itself; 0: it is not a merge
  /// The bisection that searches the commits that a lone suspect merged. Read from the store, not
  /// written.
  std::optional<BisectionId> searched_by{};
};

/// The name of a finding in all texts.
enum class FindingKind {
  improvement,  ///< everything that changed became better
  culprit,      ///< one commit, with a proof that it made a series worse
  range,        ///< one of these commits made a series worse; also one commit without a proof
  gradual,      ///< many of these commits made a series worse, each a little
  layout,       ///< one build of this commit was worse and another was not
};

/// True when the proof shows a change, in both layouts if it was repeated.
bool is_proved(Effect const& effect);

/// True when the proof shows an increase. Only such commits are called culprits.
bool made_worse(Effect const& effect);

/// True when the proof shows a change that disappears or changes its direction when both commits
/// are built with another layout.
bool is_layout(Effect const& effect);

/// The average change by each suspect of a gradual change, as a ratio: 1.01 is 1% more. The effect
/// must have positive levels.
double ratio_per_suspect(Finding const& finding, Effect const& effect);

/// True when reverting the commit moves the series the other way.
bool is_undone_by_revert(Effect const& effect);

/// True for one commit that is proved on at least one series, in any direction.
bool is_culprit(Finding const& finding);

/// Returns the kind of a finding; all texts use it. A decrease is an improvement, even when the
/// request was for decreases, because less is better for every metric. A finding is an improvement
/// only when all its effects are. When an effect is proved, only proved effects count.
FindingKind kind_of(Finding const& finding);
std::string_view to_string(FindingKind kind);

/// True for one commit that is proved to have made a series worse. False for a commit that the end
/// lacks, whose absence did so.
bool is_to_blame(Finding const& finding);

/// The published builds of the nightlies at the ends of a bisection, when the bisection did not
/// build them itself: another recipe or system did. At least one of the two lists is not empty.
struct Packages {
  /// The differences of the builds, without those of their commits. "- gcc 12": only in the start;
  /// "+ gcc 13": only in the end.
  std::vector<std::string> differences;
  /// The comparison of these builds. Empty unless no change was found between their commits.
  std::vector<SeriesChange> changes;
};

/// The numbers of steps of a bisection.
struct StepTally {
  int planned = 0;  ///< all steps, also those that are done
  int done = 0;
};

/// A bisection for an incident or for a user.
struct Bisection {
  BisectionId id;
  std::optional<IncidentId> incident;
  BisectionRequest request;
  BisectionState state = BisectionState::queued;
  RecipeId recipe{};                 ///< the recipe of its builds; 0 before the first build
  std::vector<BisectionStep> steps;  ///< in the order planned
  std::optional<BisectionOutcome> outcome;
  std::vector<Finding> findings;  ///< changes in the requested direction first, then by size
  std::optional<Packages> packages{};
  std::string failure;
  Timestamp asked_at{};
  /// Absent when the end has all commits of the start, and before the bisection begins.
  std::optional<Ancestry> ancestry{};
  /// Absent when the bisection does not search a merge.
  std::optional<SearchedMerge> inside{};
};

/// True when it has steps and all of them measure nightlies, so it has built no commit.
bool measured_nightlies_alone(Bisection const& bisection);

}  // namespace torchwatch
