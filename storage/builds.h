#pragma once

#include <optional>
#include <string>

#include "storage/domain/build.h"

namespace SQLite {
class Database;
}

namespace torchwatch::storage {

/// What became of building a commit.
enum class BuildState {
  built,
  unbuildable,  ///< the recipe said that this commit cannot be built: it never will be
};

struct BuildRecord {
  CommitSha commit;
  RecipeId recipe;
  BuildState state = BuildState::built;
  std::string prefix;  ///< of a built one
  std::string note;    ///< why it cannot be built
  Timestamp finished_at{};
  double seconds = 0;           ///< wall-clock cost; 0: not known
  bool is_incremental = false;  ///< made where another was made before
};

/// Commits whose building ended for good, a record a commit and recipe. Throws SQLite::Exception
/// when the disk fails.
class Builds {
 public:
  explicit Builds(SQLite::Database& database) : database_{database} {}

  std::optional<BuildRecord> find(CommitSha const& commit, RecipeId recipe) const;
  /// The build that lies at `prefix`.
  std::optional<BuildRecord> find_at(std::string const& prefix) const;
  /// Keeps a record, in place of an earlier one of the same commit and recipe.
  void record(BuildRecord const& build);
  /// Mean cost of the newest `most` builds of that kind whose cost is known; nothing when there is
  /// none.
  std::optional<double> mean_seconds(int most, bool is_incremental) const;

 private:
  SQLite::Database& database_;
};

}  // namespace torchwatch::storage
