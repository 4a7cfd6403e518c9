#pragma once

#include <optional>
#include <string>

#include "storage/domain/build.h"

namespace torchwatch::storage {

class Database;

/// The table of all recipes ever used, one row each. Throws SQLite::Exception when the disk fails.
class Recipes {
 public:
  explicit Recipes(Database& database) : database_{database} {}

  /// Returns the recipe of this kind with these contents. Stores it if it is new.
  Recipe with(RecipeKind kind, std::string const& contents);

  std::optional<Recipe> find(RecipeId id) const;

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
