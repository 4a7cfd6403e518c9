#include "storage/rulings.h"

#include <algorithm>
#include <string>

#include "storage/database.h"
#include "storage/rows.h"

namespace torchwatch::storage {
namespace {

constexpr auto select_rulings =
    "SELECT id, kind, incident_id, fleet, benchmark, metric, who, why, given_at, until "
    "FROM ruling ";

/// The incidents and the kind of their last ruling. SQLite takes `kind` from the row with the
/// maximum.
constexpr auto last_words =
    "(SELECT incident_id, kind, max(id) FROM ruling WHERE incident_id IS NOT NULL "
    "GROUP BY incident_id)";

/// Reads a word. Returns nothing when the column is empty.
template <class Parse>
auto read_open_word(SQLite::Column const& column, Parse parse) {
  return column.getString().empty() ? decltype(parse(std::string_view{})){}
                                    : read_word(column, parse);
}

Ruling read_ruling(SQLite::Statement& row) {
  Ruling ruling;
  ruling.id.value = row.getColumn(0).getInt64();
  ruling.kind = read_word(row.getColumn(1), parse_ruling_kind);
  if (!row.getColumn(2).isNull()) ruling.incident = IncidentId{row.getColumn(2).getInt64()};
  ruling.series.fleet = row.getColumn(3).getString();
  ruling.series.benchmark = read_open_word(row.getColumn(4), parse_benchmark);
  ruling.series.metric = read_open_word(row.getColumn(5), parse_metric);
  ruling.who = row.getColumn(6).getString();
  ruling.why = row.getColumn(7).getString();
  ruling.given_at = read_time(row.getColumn(8));
  if (!row.getColumn(9).isNull()) ruling.until = read_time(row.getColumn(9));
  return ruling;
}

}  // namespace

Ruling Rulings::give(Ruling ruling) {
  Statement insert{
      database_,
      "INSERT INTO ruling (kind, incident_id, fleet, benchmark, metric, who, why, given_at, until) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"};
  auto const& [fleet, benchmark, metric] = ruling.series;
  bind_all(insert,
           std::string{to_string(ruling.kind)},
           ruling.incident ? std::optional{ruling.incident->value} : std::nullopt,
           fleet,
           benchmark ? name_of(*benchmark) : std::string{},
           metric ? std::string{to_string(*metric)} : std::string{},
           ruling.who,
           ruling.why,
           seconds_of(ruling.given_at),
           ruling.until ? std::optional{seconds_of(*ruling.until)} : std::nullopt);
  insert.exec();
  ruling.id.value = database_.getLastInsertRowid();
  return ruling;
}

std::vector<Ruling> Rulings::all() const {
  Statement query{database_, std::string{select_rulings} + "ORDER BY id DESC"};
  return read_all(query, read_ruling);
}

std::optional<Ruling> Rulings::find(RulingId id) const {
  Statement query{database_, std::string{select_rulings} + "WHERE id = ?"};
  bind_all(query, id.value);
  return read_one(query, read_ruling);
}

std::vector<Ruling> Rulings::on(IncidentId incident) const {
  Statement query{database_, std::string{select_rulings} + "WHERE incident_id = ? ORDER BY id"};
  bind_all(query, incident.value);
  return read_all(query, read_ruling);
}

std::int64_t Rulings::count_false_incidents() const {
  Statement query{
      database_, std::string{"SELECT count(*) FROM "} + last_words + " WHERE kind = 'false_alarm'"};
  query.executeStep();
  return query.getColumn(0).getInt64();
}

std::vector<MonthOfRulings> Rulings::by_month() const {
  Statement query{database_,
                  std::string{"SELECT substr(date, 1, 7) AS month, count(*), "
                              "count(*) FILTER (WHERE kind = 'accept'), "
                              "count(*) FILTER (WHERE kind = 'false_alarm') FROM incident "
                              "JOIN nightly ON nightly.id = incident.nightly_id LEFT JOIN "} +
                      last_words +
                      " AS last ON last.incident_id = incident.id WHERE joined_id IS NULL "
                      "GROUP BY month ORDER BY month"};
  return read_all(query, [](SQLite::Statement& row) {
    return MonthOfRulings{row.getColumn(0).getString(),
                          row.getColumn(1).getInt64(),
                          row.getColumn(2).getInt64(),
                          row.getColumn(3).getInt64()};
  });
}

bool Rulings::is_muted(Series const& series, Timestamp now) const {
  Statement query{
      database_, std::string{select_rulings} + "WHERE kind IN ('mute', 'unmute') ORDER BY id DESC"};
  std::vector<SeriesFilter> ended;
  for (auto const& ruling : read_all(query, read_ruling)) {
    if (ruling.kind == RulingKind::unmute)
      ended.push_back(ruling.series);
    else if (ruling.series.matches(series) && (!ruling.until || now < *ruling.until) &&
             std::ranges::find(ended, ruling.series) == ended.end())
      return true;
  }
  return false;
}

}  // namespace torchwatch::storage
