#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "storage/domain/bisection.h"

namespace torchwatch::storage {

class Database;

/// A suspect that was compared with its parent in two layouts, with one series of the comparison.
struct ProvedTwice {
  BisectionId bisection;
  RecipeId recipe;
  CommitSha suspect;
  Series series;
};

/// The table of bisections, for incidents and for users. Throws SQLite::Exception when the disk
/// fails.
class Bisections {
 public:
  explicit Bisections(Database& database) : database_{database} {}

  /// Stores a bisection as queued, and returns it with its id.
  Bisection ask(BisectionRequest const& request, std::optional<IncidentId> incident, Timestamp now);

  /// Returns all bisections, newest first, without their steps, which are most of their data.
  std::vector<Bisection> all_in_brief() const;
  StepTally count_steps(BisectionId id) const;
  std::optional<Bisection> find(BisectionId id) const;
  /// Returns the bisections of an incident in the order requested.
  std::vector<Bisection> of_incident(IncidentId incident) const;
  /// Returns the bisections of an incident in the order requested, without their steps.
  std::vector<Bisection> of_incident_in_brief(IncidentId incident) const;
  /// Returns the proofs that were made in two layouts, newest first, at most `count` a fleet. Each
  /// is listed once for each fleet on which it compared times, with the first of its
  /// effects there.
  std::vector<ProvedTwice> proved_twice(int count) const;
  /// Returns the queued and running bisections, oldest first.
  std::vector<Bisection> unfinished() const;

  /// Returns the queued, running and paused bisections, newest first.
  std::vector<Bisection> not_ended() const;

  /// Returns the bisections that have not ended or were requested at `since` or later.
  std::vector<BisectionId> unfinished_or_since(Timestamp since) const;

  /// Returns the ended bisections of an incident whose results no event reports, in the order
  /// requested, without their steps. IncidentEvents::add() marks them.
  std::vector<Bisection> unreported(IncidentId incident) const;

  /// Replaces the commits that the bisection may build, in order from the start to the end, and the
  /// relation of its ends.
  void keep_commits(BisectionId id,
                    std::vector<Commit> const& commits,
                    std::optional<Ancestry> const& ancestry = {});
  /// Empty before the bisection has begun.
  std::vector<Commit> commits_of(BisectionId id) const;

  /// Appends planned steps, all or nothing.
  void plan(BisectionId id, std::vector<BisectionStep> const& steps);

  /// Stores the recipe that builds the commits from now on, and `variation`. Deletes all steps,
  /// because measurements of builds by another recipe do not apply.
  void begin_with(BisectionId id, RecipeId recipe, BuildVariation const& variation);

  /// Returns the variation that begin_with() stored. A bisection uses it to its end, even when
  /// newer figures exist. Returns nothing before it begins.
  std::optional<BuildVariation> build_variation_of(BisectionId id) const;

  /// Stores a step that is done. `ordinal` is its position among the planned steps, from 0.
  void finish(BisectionId id, std::size_t ordinal, BisectionStep const& step);

  /// Stores state, outcome, findings, packages and failure. Stores `into_merges`, the bisections of
  /// merges that it found, as queued, with new ids. All or nothing.
  void update(Bisection const& bisection, std::vector<Bisection> into_merges = {});

  /// Changes the state from queued or running to running. Returns false and changes nothing in any
  /// other state, because a user paused or cancelled it.
  bool begin(BisectionId id);

  /// Changes only the state, when a user pauses, resumes or cancels. Returns false and changes
  /// nothing when the id is unknown or the bisection is done, failed or cancelled.
  bool set_state(BisectionId id, BisectionState state);

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
