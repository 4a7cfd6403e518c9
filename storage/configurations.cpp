#include "storage/configurations.h"

#include "storage/database.h"
#include "storage/rows.h"

namespace torchwatch::storage {
namespace {

/// The summaries of series that the new fleet has, too.
constexpr auto move_nights = R"sql(
UPDATE OR IGNORE night SET series_id = (
  SELECT its.id FROM series AS old JOIN series AS its
    ON its.fleet = ?2 AND its.benchmark = old.benchmark AND its.metric = old.metric
  WHERE old.id = night.series_id)
WHERE series_id IN (SELECT id FROM series WHERE fleet = ?1)
)sql";

constexpr auto rename_in_beliefs = R"sql(
UPDATE bisection_step SET beliefs = (
  SELECT json_group_array(json(
    CASE WHEN json_extract(each.value, '$.fleet') = ?1
         THEN json_set(each.value, '$.fleet', ?2) ELSE each.value END))
  FROM json_each(bisection_step.beliefs) AS each)
WHERE beliefs <> '' AND EXISTS (SELECT 1 FROM json_each(bisection_step.beliefs) AS each
              WHERE json_extract(each.value, '$.fleet') = ?1)
)sql";

constexpr auto rename_in_variation = R"sql(
UPDATE bisection SET build_variation = json_remove(
  json_set(build_variation, '$."' || ?2 || '"',
           json_extract(build_variation, '$."' || ?1 || '"')),
  '$."' || ?1 || '"')
WHERE json_type(build_variation, '$."' || ?1 || '"') IS NOT NULL
)sql";

/// The subject of an alarm is a fleet, or begins with "FLEET: ".
constexpr auto rename_in_alarms = R"sql(
UPDATE OR IGNORE alarm SET subject = ?2 || substr(subject, length(?1) + 1)
WHERE subject = ?1 OR substr(subject, 1, length(?1) + 2) = ?1 || ': '
)sql";

int change(Database& database,
           std::string const& sql,
           std::string const& before,
           std::string const& after) {
  Statement statement{database, sql};
  bind_all(statement, before, after);
  return statement.exec();
}

/// Returns the tables with a column `fleet`, without `series`.
std::vector<std::string> tables_with_fleets(Database& database) {
  Statement query{database,
                  "SELECT tables.name FROM sqlite_schema AS tables "
                  "JOIN pragma_table_info(tables.name) AS columns "
                  "WHERE tables.type = 'table' AND columns.name = 'fleet' "
                  "AND tables.name <> 'series' ORDER BY tables.name"};
  return read_all(query, [](SQLite::Statement& row) { return row.getColumn(0).getString(); });
}

bool is_known(Database& database, std::string const& fleet) {
  for (auto const* const table : {"series", "ruling", "job", "bisection_series"}) {
    Statement query{database, std::string{"SELECT 1 FROM "} + table + " WHERE fleet = ? LIMIT 1"};
    bind_all(query, fleet);
    if (query.executeStep()) return true;
  }
  return false;
}

/// Renames the series of a fleet, and joins those that the new fleet has, too.
int rename_series(Database& database, std::string const& before, std::string const& after) {
  int changed =
      change(database, "UPDATE OR IGNORE series SET fleet = ?2 WHERE fleet = ?1", before, after);
  changed += change(database, move_nights, before, after);
  for (auto const* const sql :
       {"DELETE FROM night WHERE series_id IN (SELECT id FROM series WHERE fleet = ?)",
        "DELETE FROM series WHERE fleet = ?"}) {
    Statement rest{database, sql};
    bind_all(rest, before);
    changed += rest.exec();
  }
  return changed;
}

}  // namespace

std::optional<std::string> Configurations::last() const {
  Statement query{database_, "SELECT json FROM configuration"};
  return read_one(query, [](SQLite::Statement& row) { return read_json_text(row.getColumn(0)); });
}

void Configurations::note(std::string const& json,
                          std::vector<ConfigurationChange> const& changes) {
  SQLite::Transaction transaction{database_, SQLite::TransactionBehavior::IMMEDIATE};
  Statement update{database_, "INSERT OR REPLACE INTO configuration (id, json) VALUES (1, ?)"};
  bind_all(update, json);
  update.exec();
  for (auto const& one : changes) {
    Statement insert{
        database_,
        "INSERT INTO configuration_change (key, before, after, effect, at) VALUES (?, ?, ?, ?, ?)"};
    bind_all(insert, one.key, one.before, one.after, one.effect, seconds_of(one.at));
    insert.exec();
  }
  transaction.commit();
}

std::vector<ConfigurationChange> Configurations::newest(int count) const {
  Statement query{database_,
                  "SELECT key, before, after, effect, at FROM configuration_change "
                  "ORDER BY id DESC LIMIT ?"};
  bind_all(query, count);
  return read_all(query, [](SQLite::Statement& row) {
    ConfigurationChange one;
    one.key = row.getColumn(0).getString();
    one.before = row.getColumn(1).getString();
    one.after = row.getColumn(2).getString();
    one.effect = row.getColumn(3).getString();
    one.at = read_time(row.getColumn(4));
    return one;
  });
}

int Configurations::rename_fleet(std::string const& before, std::string const& after) {
  if (!is_known(database_, before)) return 0;
  SQLite::Transaction transaction{database_, SQLite::TransactionBehavior::IMMEDIATE};
  int changed = rename_series(database_, before, after);
  for (auto const& table : tables_with_fleets(database_))
    changed += change(
        database_, "UPDATE OR IGNORE " + table + " SET fleet = ?2 WHERE fleet = ?1", before, after);
  for (auto const* const sql : {rename_in_beliefs, rename_in_variation, rename_in_alarms})
    changed += change(database_, sql, before, after);
  transaction.commit();
  return changed;
}

}  // namespace torchwatch::storage
