#include "storage/builds.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include "storage/rows.h"

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

}  // namespace

std::optional<BuildRecord> Builds::find(CommitSha const& commit) const {
  SQLite::Statement query{database_,
                          "SELECT commit_sha, state, prefix, note, finished_at, seconds, "
                          "is_incremental FROM build WHERE commit_sha = ?"};
  bind_all(query, commit.hex);
  return read_one(query, [](SQLite::Statement& row) {
    return BuildRecord{CommitSha{row.getColumn(0).getString()},
                       read_word(row.getColumn(1), parse_build_state),
                       row.getColumn(2).getString(),
                       row.getColumn(3).getString(),
                       read_time(row.getColumn(4)),
                       row.getColumn(5).getDouble(),
                       row.getColumn(6).getInt() != 0};
  });
}

void Builds::record(BuildRecord const& build) {
  SQLite::Statement insert{
      database_,
      "INSERT OR REPLACE INTO build "
      "(commit_sha, state, prefix, note, finished_at, seconds, is_incremental) "
      "VALUES (?, ?, ?, ?, ?, ?, ?)"};
  bind_all(insert,
           build.commit.hex,
           std::string{to_string(build.state)},
           build.prefix,
           build.note,
           seconds_of(build.finished_at),
           build.seconds,
           build.is_incremental);
  insert.exec();
}

std::optional<double> Builds::mean_seconds(int most, bool is_incremental) const {
  SQLite::Statement query{
      database_,
      "SELECT avg(seconds) FROM (SELECT seconds FROM build WHERE state = 'built' AND seconds > 0 "
      "AND is_incremental = ? ORDER BY finished_at DESC, commit_sha LIMIT ?)"};
  bind_all(query, is_incremental, most);
  query.executeStep();
  auto const mean = query.getColumn(0);
  return mean.isNull() ? std::nullopt : std::optional{mean.getDouble()};
}

}  // namespace torchwatch::storage
