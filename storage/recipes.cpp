#include "storage/recipes.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include "storage/rows.h"

namespace torchwatch::storage {
namespace {

Recipe read_recipe(SQLite::Statement& row) {
  return {RecipeId{row.getColumn(0).getInt64()}, row.getColumn(1).getString()};
}

}  // namespace

Recipe Recipes::with(std::string const& contents) {
  SQLite::Statement insert{database_, "INSERT OR IGNORE INTO recipe (contents) VALUES (?)"};
  bind_all(insert, contents);
  insert.exec();
  SQLite::Statement query{database_, "SELECT id, contents FROM recipe WHERE contents = ?"};
  bind_all(query, contents);
  return read_one(query, read_recipe).value();
}

std::optional<Recipe> Recipes::find(RecipeId id) const {
  SQLite::Statement query{database_, "SELECT id, contents FROM recipe WHERE id = ?"};
  bind_all(query, id.value);
  return read_one(query, read_recipe);
}

}  // namespace torchwatch::storage
