#include "storage/nightlies.h"

#include <utility>

#include "storage/database.h"
#include "storage/rows.h"
#include "storage/state_paths.h"

namespace torchwatch::storage {
namespace {

constexpr auto select_nightlies =
    "SELECT id, date, version, commit_sha, release_sha, prefix, state, baseline_id, failure, "
    "announced_at, file_url, file_sha256, file_etag, file_last_modified, file_bytes, "
    "file_aliases, release_date FROM nightly ";

// Few nightlies are in an unfinished state, so "NOT INDEXED" sorts them, and looks up no row of a
// finished one.

/// Condition that excludes a failed edition of a published file when another edition was judged.
constexpr auto that_count =
    "NOT (state = 'failed' AND file_url IS NOT NULL AND EXISTS ("
    "SELECT 1 FROM nightly AS other WHERE other.date = nightly.date AND "
    "other.version = nightly.version AND other.state IN ('bisected', 'done'))) ";

/// Condition of the nightlies that were compared before the nightly of date ?1 and id ?2.
constexpr auto compared_before_it =
    "WHERE (date, id) < (?1, ?2) AND id < ?2 AND state IN ('bisected', 'done') AND EXISTS ("
    "SELECT 1 FROM nightly AS baseline WHERE baseline.id = nightly.baseline_id AND "
    "baseline.commit_sha <> nightly.commit_sha) ";

Nightly read_nightly(Database& database, SQLite::Statement& row) {
  Nightly nightly;
  nightly.id.value = row.getColumn(0).getInt64();
  nightly.date = row.getColumn(1).getString();
  nightly.version = row.getColumn(2).getString();
  nightly.commit.hex = row.getColumn(3).getString();
  nightly.release_commit.hex = row.getColumn(4).getString();
  nightly.prefix = path_of(database, row.getColumn(5).getString());
  nightly.state = read_word(row.getColumn(6), parse_nightly_state);
  if (!row.getColumn(7).isNull()) nightly.baseline = NightlyId{row.getColumn(7).getInt64()};
  nightly.failure = row.getColumn(8).getString();
  nightly.announced_at = read_time(row.getColumn(9));
  if (!row.getColumn(10).isNull())
    nightly.file = PublishedFile{row.getColumn(10).getString(),
                                 row.getColumn(11).getString(),
                                 row.getColumn(12).getString(),
                                 row.getColumn(13).getString(),
                                 row.getColumn(14).getInt64(),
                                 lines_of(row.getColumn(15).getString())};
  nightly.release_date = row.getColumn(16).getString();
  return nightly;
}

std::vector<Nightly> read_nightlies(Database& database, SQLite::Statement& query) {
  return read_all(query, [&](SQLite::Statement& row) { return read_nightly(database, row); });
}

std::optional<Nightly> read_one_nightly(Database& database, SQLite::Statement& query) {
  return read_one(query, [&](SQLite::Statement& row) { return read_nightly(database, row); });
}

std::optional<NightlyId> read_optional_nightly(SQLite::Column const& column) {
  if (column.isNull()) return std::nullopt;
  return NightlyId{column.getInt64()};
}

}  // namespace

bool Nightlies::announce(Nightly const& nightly) {
  Statement insert{database_,
                   "INSERT OR IGNORE INTO nightly "
                   "(date, version, commit_sha, release_sha, prefix, state, announced_at, "
                   "file_url, file_sha256, file_etag, file_last_modified) "
                   "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
  auto const file = nightly.file.value_or(PublishedFile{});
  bind_all(insert,
           nightly.date,
           nightly.version,
           nightly.commit.hex,
           nightly.release_commit.hex,
           stored_path(database_, nightly.prefix),
           std::string{to_string(nightly.state)},
           seconds_of(nightly.announced_at),
           nightly.file ? std::optional{file.url} : std::nullopt,
           file.sha256,
           file.etag,
           file.last_modified);
  return insert.exec() == 1;
}

std::vector<Nightly> Nightlies::all() const {
  Statement query{database_, std::string{select_nightlies} + "ORDER BY date, id"};
  return read_nightlies(database_, query);
}

std::vector<Nightly> Nightlies::since(std::string const& date) const {
  Statement query{database_, std::string{select_nightlies} + "WHERE date >= ? ORDER BY date, id"};
  bind_all(query, date);
  return read_nightlies(database_, query);
}

std::vector<Nightly> Nightlies::of(CommitSha const& commit) const {
  Statement query{database_,
                  std::string{select_nightlies} + "WHERE commit_sha = ? ORDER BY date, id"};
  bind_all(query, commit.hex);
  return read_nightlies(database_, query);
}

std::optional<Nightly> Nightlies::newest() const {
  Statement query{database_,
                  std::string{select_nightlies} + "WHERE " + that_count +
                      "ORDER BY date DESC, id DESC LIMIT 1"};
  return read_one_nightly(database_, query);
}

LastJudged Nightlies::note_last_judged(Timestamp now) {
  // A nightly that arrived after the next one was judged is done, but was not measured.
  Statement newest{database_,
                   "SELECT max(id) FROM nightly WHERE state IN ('confirmed', 'bisected', 'done') "
                   "AND EXISTS (SELECT 1 FROM night WHERE nightly_id = nightly.id AND is_judged)"};
  newest.executeStep();
  auto const seen = read_optional_nightly(newest.getColumn(0));
  Statement stored{database_, "SELECT nightly_id, at FROM last_judged"};
  auto const before = read_one(stored, [](SQLite::Statement& row) {
    return LastJudged{read_optional_nightly(row.getColumn(0)), read_time(row.getColumn(1))};
  });
  if (before && before->nightly == seen && before->at <= now) return *before;
  Statement update{database_,
                   "INSERT OR REPLACE INTO last_judged (id, nightly_id, at) VALUES (1, ?, ?)"};
  bind_all(update, seen ? std::optional{seen->value} : std::nullopt, seconds_of(now));
  update.exec();
  return {seen, now};
}

std::optional<Nightly> Nightlies::last_ended() const {
  Statement query{database_,
                  std::string{select_nightlies} +
                      "WHERE state IN ('bisected', 'done', 'failed') AND " + that_count +
                      "ORDER BY date DESC, id DESC LIMIT 1"};
  return read_one_nightly(database_, query);
}

std::optional<Nightly> Nightlies::judged_from_end(int place) const {
  Statement query{database_,
                  std::string{select_nightlies} +
                      "WHERE state IN ('bisected', 'done') "
                      "ORDER BY date DESC, id DESC LIMIT 1 OFFSET ?"};
  bind_all(query, place - 1);
  return read_one_nightly(database_, query);
}

std::optional<Nightly> Nightlies::last_before(
    Nightly const& nightly, std::function<bool(Nightly const&)> const& is_wanted) const {
  Statement query{
      database_,
      std::string{select_nightlies} + "WHERE (date, id) < (?, ?) ORDER BY date DESC, id DESC"};
  bind_all(query, nightly.date, nightly.id.value);
  while (auto earlier = read_one_nightly(database_, query))
    if (is_wanted(*earlier)) return earlier;
  return std::nullopt;
}

std::vector<ComparedNight> Nightlies::compared_before(Nightly const& nightly, int most) const {
  Statement query{
      database_,
      std::string{select_nightlies} + compared_before_it + "ORDER BY date DESC, id DESC LIMIT ?3"};
  bind_all(query, nightly.date, nightly.id.value, most);
  return read_all(query, [&](SQLite::Statement& row) {
    auto compared = read_nightly(database_, row);
    auto baseline = find(compared.baseline.value()).value();
    return ComparedNight{std::move(compared), std::move(baseline)};
  });
}

std::size_t Nightlies::count_compared_before(Nightly const& nightly) const {
  Statement query{database_, std::string{"SELECT count(*) FROM nightly "} + compared_before_it};
  bind_all(query, nightly.date, nightly.id.value);
  query.executeStep();
  return static_cast<std::size_t>(query.getColumn(0).getInt64());
}

std::vector<Nightly> Nightlies::newest(int count) const {
  Statement query{database_, std::string{select_nightlies} + "ORDER BY date DESC, id DESC LIMIT ?"};
  bind_all(query, count);
  return read_nightlies(database_, query);
}

std::optional<std::string> Nightlies::first_date_of_last(int count) const {
  Statement query{database_,
                  "SELECT min(date) FROM (SELECT date FROM nightly ORDER BY date DESC LIMIT ?)"};
  bind_all(query, count);
  query.executeStep();
  auto const first = query.getColumn(0);
  return first.isNull() ? std::nullopt : std::optional{first.getString()};
}

std::optional<Nightly> Nightlies::of_date(std::string const& date) const {
  Statement query{database_,
                  std::string{select_nightlies} + "WHERE date = ? AND " + that_count +
                      "ORDER BY id DESC LIMIT 1"};
  bind_all(query, date);
  return read_one_nightly(database_, query);
}

std::optional<Nightly> Nightlies::find(NightlyId id) const {
  Statement query{database_, std::string{select_nightlies} + "WHERE id = ?"};
  bind_all(query, id.value);
  return read_one_nightly(database_, query);
}

std::optional<Nightly> Nightlies::next_unfinished(std::set<NightlyId> const& waiting) const {
  Statement query{database_,
                  std::string{select_nightlies} +
                      "NOT INDEXED WHERE state NOT IN ('bisected', 'done', 'failed') "
                      "ORDER BY date, id"};
  for (auto& nightly : read_nightlies(database_, query))
    if (!waiting.contains(nightly.id)) return std::move(nightly);
  return std::nullopt;
}

std::vector<Nightly> Nightlies::investigated() const {
  Statement query{
      database_,
      std::string{select_nightlies} + "NOT INDEXED WHERE state = 'bisected' ORDER BY date, id"};
  return read_nightlies(database_, query);
}

void Nightlies::update(Nightly const& nightly) {
  Statement statement{
      database_,
      "UPDATE nightly SET version = ?, commit_sha = ?, release_sha = ?, prefix = ?, state = ?, "
      "baseline_id = ?, failure = ?, file_url = ?, file_sha256 = ?, file_etag = ?, "
      "file_last_modified = ?, file_bytes = ?, file_aliases = ?, "
      "release_date = ? WHERE id = ?"};
  auto const file = nightly.file.value_or(PublishedFile{});
  bind_all(statement,
           nightly.version,
           nightly.commit.hex,
           nightly.release_commit.hex,
           stored_path(database_, nightly.prefix),
           std::string{to_string(nightly.state)},
           nightly.baseline ? std::optional{nightly.baseline->value} : std::nullopt,
           nightly.failure,
           nightly.file ? std::optional{file.url} : std::nullopt,
           file.sha256,
           file.etag,
           file.last_modified,
           file.bytes,
           text_of(file.aliases),
           nightly.release_date,
           nightly.id.value);
  statement.exec();
}

}  // namespace torchwatch::storage
