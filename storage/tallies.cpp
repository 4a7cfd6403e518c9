#include "storage/tallies.h"

#include "storage/database.h"
#include "storage/rows.h"

namespace torchwatch::storage {
namespace {

/// Reads rows of a word in a closed set and a number.
template <class Parse>
auto counts_of(Database& database, std::string const& sql, Parse parse) {
  Statement query{database, sql};
  std::map<typename decltype(parse(std::string_view{}))::value_type, std::int64_t> counts;
  while (query.executeStep())
    counts[read_word(query.getColumn(0), parse)] = query.getColumn(1).getInt64();
  return counts;
}

std::map<std::string, Tallies::BuildTally> builds_in(Database& database) {
  Statement query{database, "SELECT state, count(*), total(seconds) FROM build GROUP BY state"};
  std::map<std::string, Tallies::BuildTally> builds;
  while (query.executeStep())
    builds[query.getColumn(0).getString()] = {query.getColumn(1).getInt64(),
                                              query.getColumn(2).getDouble()};
  return builds;
}

std::optional<Timestamp> newest_in(Database& database, std::string const& condition) {
  Statement query{database,
                  "SELECT announced_at FROM nightly WHERE " + condition +
                      " ORDER BY date DESC, id DESC LIMIT 1"};
  return read_one(query, [](SQLite::Statement& row) { return read_time(row.getColumn(0)); });
}

std::optional<Timestamp> last_judged_in(Database& database) {
  Statement query{database, "SELECT at FROM last_judged WHERE nightly_id IS NOT NULL"};
  return read_one(query, [](SQLite::Statement& row) { return read_time(row.getColumn(0)); });
}

std::int64_t number(Database& database, std::string const& sql) {
  return database.execAndGet(sql).getInt64();
}

}  // namespace

Tallies tallies_of(Database& database) {
  Tallies tallies;
  tallies.nightlies = counts_of(
      database, "SELECT state, count(*) FROM nightly GROUP BY state", parse_nightly_state);
  tallies.newest_announced = newest_in(database, "TRUE");
  tallies.newest_judged = newest_in(database, "state IN ('bisected', 'done')");
  tallies.last_judged = last_judged_in(database);
  tallies.incidents = number(database, "SELECT count(*) FROM incident WHERE joined_id IS NULL");
  tallies.incident_states =
      counts_of(database,
                "SELECT state, count(*) FROM incident WHERE joined_id IS NULL GROUP BY state",
                parse_incident_state);
  tallies.bisections = counts_of(
      database, "SELECT state, count(*) FROM bisection GROUP BY state", parse_bisection_state);
  // Steps are long rows, so their number is read from the last step of each bisection.
  tallies.bisection_steps =
      number(database,
             "SELECT coalesce(sum((SELECT max(ordinal) + 1 FROM bisection_step "
             "WHERE bisection_id = bisection.id)), 0) FROM bisection");
  tallies.builds = builds_in(database);
  tallies.open_alarms =
      counts_of(database,
                "SELECT kind, count(*) FROM alarm WHERE cleared_at IS NULL GROUP BY kind",
                parse_alarm_kind);
  tallies.bytes = number(database, "PRAGMA page_count") * number(database, "PRAGMA page_size");
  return tallies;
}

}  // namespace torchwatch::storage
