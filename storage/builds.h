#pragma once

#include <optional>
#include <string>

#include "storage/domain/build.h"

namespace torchwatch::storage {

class Database;

/// The final result of building a commit.
enum class BuildState {
  built,
  unbuildable,  ///< the recipe reported that it will never build this commit
};

struct BuildRecord {
  CommitSha commit;
  RecipeId recipe;
  BuildState state = BuildState::built;
  std::string prefix;  ///< directory of the build, when it is built
  std::string note;    ///< why it is unbuildable
  Timestamp finished_at{};
  double seconds = 0;           ///< wall-clock cost; 0: unknown
  bool is_incremental = false;  ///< built in a worktree where another commit was built before
};

/// The final results of building commits, one for each commit and recipe. Throws SQLite::Exception
/// when the disk fails.
class Builds {
 public:
  explicit Builds(Database& database) : database_{database} {}

  std::optional<BuildRecord> find(CommitSha const& commit, RecipeId recipe) const;
  /// Returns the build in the directory `prefix`.
  std::optional<BuildRecord> find_at(std::string const& prefix) const;
  /// Stores a record. It replaces an earlier one of the same commit and recipe.
  void record(BuildRecord const& build);
  /// Returns the mean cost of the newest `most` builds, incremental or not, with a known cost.
  /// Returns nothing without such builds.
  std::optional<double> mean_seconds(int most, bool is_incremental) const;

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
