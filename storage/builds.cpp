#include "storage/builds.h"

#include "storage/database.h"
#include "storage/rows.h"
#include "storage/state_paths.h"

namespace torchwatch::storage {
namespace {

std::string_view to_string(BuildState state) {
  switch (state) {
    case BuildState::built:
      return "built";
    case BuildState::unbuildable:
      return "unbuildable";
  }
  return "unknown";
}

std::optional<BuildState> parse_build_state(std::string_view text) {
  for (auto const state : {BuildState::built, BuildState::unbuildable})
    if (text == to_string(state)) return state;
  return std::nullopt;
}

constexpr auto select_builds =
    "SELECT commit_sha, recipe_id, state, prefix, note, finished_at, seconds, is_incremental "
    "FROM build ";

BuildRecord read_build(Database& database, SQLite::Statement& row) {
  return {CommitSha{row.getColumn(0).getString()},
          RecipeId{row.getColumn(1).getInt64()},
          read_word(row.getColumn(2), parse_build_state),
          path_of(database, row.getColumn(3).getString()),
          row.getColumn(4).getString(),
          read_time(row.getColumn(5)),
          row.getColumn(6).getDouble(),
          row.getColumn(7).getInt() != 0};
}

}  // namespace

std::optional<BuildRecord> Builds::find(CommitSha const& commit, RecipeId recipe) const {
  Statement query{database_, std::string{select_builds} + "WHERE commit_sha = ? AND recipe_id = ?"};
  bind_all(query, commit.hex, recipe.value);
  return read_one(query, [this](SQLite::Statement& row) { return read_build(database_, row); });
}

std::optional<BuildRecord> Builds::find_at(std::string const& prefix) const {
  Statement query{database_, std::string{select_builds} + "WHERE state = 'built' AND prefix = ?"};
  bind_all(query, stored_path(database_, prefix));
  return read_one(query, [this](SQLite::Statement& row) { return read_build(database_, row); });
}

void Builds::record(BuildRecord const& build) {
  Statement insert{
      database_,
      "INSERT OR REPLACE INTO build "
      "(commit_sha, recipe_id, state, prefix, note, finished_at, seconds, is_incremental) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"};
  bind_all(insert,
           build.commit.hex,
           build.recipe.value,
           std::string{to_string(build.state)},
           stored_path(database_, build.prefix),
           build.note,
           seconds_of(build.finished_at),
           build.seconds,
           build.is_incremental);
  insert.exec();
}

std::optional<double> Builds::mean_seconds(int most, bool is_incremental) const {
  Statement query{
      database_,
      "SELECT avg(seconds) FROM (SELECT seconds FROM build WHERE state = 'built' AND seconds > 0 "
      "AND is_incremental = ? ORDER BY finished_at DESC, commit_sha LIMIT ?)"};
  bind_all(query, is_incremental, most);
  query.executeStep();
  auto const mean = query.getColumn(0);
  return mean.isNull() ? std::nullopt : std::optional{mean.getDouble()};
}

}  // namespace torchwatch::storage
