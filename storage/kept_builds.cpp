#include "storage/kept_builds.h"

#include "storage/database.h"
#include "storage/rows.h"

namespace torchwatch::storage {
namespace {

constexpr auto select_kept_builds =
    "SELECT name, bytes, made_at, used_at, pinned_by, pinned_why, pinned_at FROM kept_build ";

KeptBuild read_kept_build(SQLite::Statement& row) {
  KeptBuild build;
  build.name = row.getColumn(0).getString();
  build.bytes = row.getColumn(1).getInt64();
  build.made_at = read_time(row.getColumn(2));
  build.used_at = read_time(row.getColumn(3));
  if (!row.getColumn(6).isNull())
    build.pin = Pin{
        row.getColumn(4).getString(), row.getColumn(5).getString(), read_time(row.getColumn(6))};
  return build;
}

}  // namespace

std::vector<KeptBuild> KeptBuilds::all() const {
  Statement query{database_, std::string{select_kept_builds} + "ORDER BY name"};
  return read_all(query, read_kept_build);
}

std::optional<KeptBuild> KeptBuilds::find(std::string const& name) const {
  Statement query{database_, std::string{select_kept_builds} + "WHERE name = ?"};
  bind_all(query, name);
  return read_one(query, read_kept_build);
}

void KeptBuilds::record(KeptBuild const& build) {
  Statement insert{
      database_,
      "INSERT INTO kept_build (name, bytes, made_at, used_at) VALUES (?, ?, ?, ?) ON CONFLICT "
      "(name) DO UPDATE SET bytes = excluded.bytes, made_at = excluded.made_at, "
      "used_at = excluded.used_at"};
  bind_all(insert, build.name, build.bytes, seconds_of(build.made_at), seconds_of(build.used_at));
  insert.exec();
}

bool KeptBuilds::pin(std::string const& name, std::optional<Pin> const& pin) {
  Statement update{
      database_,
      "UPDATE kept_build SET pinned_by = ?, pinned_why = ?, pinned_at = ? WHERE name = ?"};
  bind_all(update,
           pin ? pin->who : "",
           pin ? pin->why : "",
           pin ? std::optional{seconds_of(pin->given_at)} : std::nullopt,
           name);
  return update.exec() > 0;
}

void KeptBuilds::remove(std::string const& name) {
  Statement remove{database_, "DELETE FROM kept_build WHERE name = ?"};
  bind_all(remove, name);
  remove.exec();
}

void KeptBuilds::want(WantedBuild const& wanted) {
  Statement insert{
      database_,
      "INSERT OR REPLACE INTO wanted_build (nightly_id, who, why, asked_at) VALUES (?, ?, ?, ?)"};
  bind_all(insert,
           wanted.nightly.value,
           wanted.pin.who,
           wanted.pin.why,
           seconds_of(wanted.pin.given_at));
  insert.exec();
}

std::vector<WantedBuild> KeptBuilds::wanted() const {
  Statement query{database_,
                  "SELECT nightly_id, who, why, asked_at FROM wanted_build ORDER BY nightly_id"};
  return read_all(query, [](SQLite::Statement& row) {
    return WantedBuild{NightlyId{row.getColumn(0).getInt64()},
                       Pin{row.getColumn(1).getString(),
                           row.getColumn(2).getString(),
                           read_time(row.getColumn(3))}};
  });
}

void KeptBuilds::want_no_more(NightlyId nightly) {
  Statement remove{database_, "DELETE FROM wanted_build WHERE nightly_id = ?"};
  bind_all(remove, nightly.value);
  remove.exec();
}

}  // namespace torchwatch::storage
