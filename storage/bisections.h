#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "storage/domain/bisection.h"

namespace SQLite {
class Database;
}

namespace torchwatch::storage {

/// What was compared with a suspect's parent in two layouts.
struct ProvedTwice {
  BisectionId bisection;
  RecipeId recipe;
  CommitSha suspect;
  Series series;
};

/// Bisections that were asked for, by an incident or by a person. Throws SQLite::Exception when the
/// disk fails.
class Bisections {
 public:
  explicit Bisections(SQLite::Database& database) : database_{database} {}

  /// Stores a bisection as queued, and returns it with its id.
  Bisection ask(BisectionRequest const& request, std::optional<IncidentId> incident, Timestamp now);

  /// Every bisection, newest first, without its steps, which are most of it.
  std::vector<Bisection> all_in_brief() const;
  StepTally count_steps(BisectionId id) const;
  std::optional<Bisection> find(BisectionId id) const;
  /// Those of an incident, in the order asked.
  std::vector<Bisection> of_incident(IncidentId incident) const;
  /// The same without their steps.
  std::vector<Bisection> of_incident_in_brief(IncidentId incident) const;
  /// At most `count` of each fleet, newest first. A proof is one of them for each fleet on which it
  /// compared times, with the first of them in the order of its request.
  std::vector<ProvedTwice> proved_twice(int count) const;
  /// Every one that is queued or running, oldest first.
  std::vector<Bisection> unfinished() const;

  /// Every one that is queued, running or paused, newest first.
  std::vector<Bisection> not_ended() const;

  /// Those that have not ended, or were asked for at `since` or later.
  std::vector<BisectionId> unfinished_or_since(Timestamp since) const;

  /// Those that ended after the report of their incident was published, and that it does not have
  /// yet; in the order requested. One that failed or was cancelled is among them only if the report
  /// says that it is running.
  std::vector<Bisection> pending_updates() const;
  /// Notes that the report of its incident says what it found.
  void mark_reported(BisectionId id);

  /// Keeps the commits that may be built, in order from the start to the end, and how the end
  /// descends from the start, in place of what was kept before.
  void keep_commits(BisectionId id,
                    std::vector<Commit> const& commits,
                    std::optional<Ancestry> const& ancestry = {});
  /// Empty before the bisection has begun.
  std::vector<Commit> commits_of(BisectionId id) const;

  /// Appends steps that are about to be done, all or nothing.
  void plan(BisectionId id, std::vector<BisectionStep> const& steps);

  /// Commits are built by `recipe` from now on. What was measured of builds by another says nothing
  /// of these, so the steps are forgotten. `variation` is kept next to it.
  void begin_with(BisectionId id, RecipeId recipe, BuildVariation const& variation);

  /// As it was when the bisection began with its recipe: it goes on with what it began with,
  /// whatever was learnt meanwhile. Nothing before it begins.
  std::optional<BuildVariation> build_variation_of(BisectionId id) const;

  /// Stores a step as it was done. `ordinal` is its place among those planned, counted from 0.
  void finish(BisectionId id, std::size_t ordinal, BisectionStep const& step);

  /// Stores state, outcome, findings, packages and failure, and bisections into merges that it
  /// found as queued, with ids of their own; all or nothing.
  void update(Bisection const& bisection, std::vector<Bisection> into_merges = {});

  /// Changes the state from queued or running to running. False, and nothing is changed, when it is
  /// neither: somebody has paused or cancelled it meanwhile.
  bool begin(BisectionId id);

  /// Changes the state alone: somebody pauses, resumes or cancels. False, and nothing is changed,
  /// when it is not known, or is done, failed or cancelled.
  bool set_state(BisectionId id, BisectionState state);

 private:
  SQLite::Database& database_;
};

}  // namespace torchwatch::storage
