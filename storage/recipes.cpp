#include "storage/recipes.h"

#include "storage/database.h"
#include "storage/rows.h"

namespace torchwatch::storage {
namespace {

constexpr auto select_recipes = "SELECT id, kind, contents FROM recipe ";

Recipe read_recipe(SQLite::Statement& row) {
  return {RecipeId{row.getColumn(0).getInt64()},
          read_word(row.getColumn(1), parse_recipe_kind),
          row.getColumn(2).getString()};
}

}  // namespace

Recipe Recipes::with(RecipeKind kind, std::string const& contents) {
  std::string const word{to_string(kind)};
  Statement insert{database_, "INSERT OR IGNORE INTO recipe (kind, contents) VALUES (?, ?)"};
  bind_all(insert, word, contents);
  insert.exec();
  Statement query{database_, std::string{select_recipes} + "WHERE kind = ? AND contents = ?"};
  bind_all(query, word, contents);
  return read_one(query, read_recipe).value();
}

std::optional<Recipe> Recipes::find(RecipeId id) const {
  Statement query{database_, std::string{select_recipes} + "WHERE id = ?"};
  bind_all(query, id.value);
  return read_one(query, read_recipe);
}

}  // namespace torchwatch::storage
