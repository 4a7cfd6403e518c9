#include "storage/alarms.h"

#include "storage/database.h"
#include "storage/rows.h"

namespace torchwatch::storage {
namespace {

constexpr auto select_alarms =
    "SELECT id, kind, subject, detail, raised_at, cleared_at FROM alarm ";

Alarm read_alarm(SQLite::Statement& row) {
  Alarm alarm;
  alarm.id.value = row.getColumn(0).getInt64();
  alarm.kind = read_word(row.getColumn(1), parse_alarm_kind);
  alarm.subject = row.getColumn(2).getString();
  alarm.detail = row.getColumn(3).getString();
  alarm.raised_at = read_time(row.getColumn(4));
  if (!row.getColumn(5).isNull()) alarm.cleared_at = read_time(row.getColumn(5));
  return alarm;
}

}  // namespace

bool Alarms::raise(AlarmKind kind,
                   std::string const& subject,
                   std::string const& detail,
                   Timestamp now) {
  Statement update{database_,
                   "UPDATE alarm SET detail = ?1 WHERE kind = ?2 AND subject = ?3 "
                   "AND cleared_at IS NULL AND detail <> ?1"};
  bind_all(update, detail, std::string{to_string(kind)}, subject);
  update.exec();
  Statement insert{
      database_,
      "INSERT OR IGNORE INTO alarm (kind, subject, detail, raised_at) VALUES (?, ?, ?, ?)"};
  bind_all(insert, std::string{to_string(kind)}, subject, detail, seconds_of(now));
  return insert.exec() > 0;
}

bool Alarms::clear(AlarmKind kind, std::string const& subject, Timestamp now) {
  Statement update{
      database_,
      "UPDATE alarm SET cleared_at = ? WHERE kind = ? AND subject = ? AND cleared_at IS NULL"};
  bind_all(update, seconds_of(now), std::string{to_string(kind)}, subject);
  return update.exec() > 0;
}

std::vector<Alarm> Alarms::all() const {
  Statement query{database_, std::string{select_alarms} + "ORDER BY id DESC"};
  return read_all(query, read_alarm);
}

std::optional<Alarm> Alarms::find(AlarmId id) const {
  Statement query{database_, std::string{select_alarms} + "WHERE id = ?"};
  bind_all(query, id.value);
  return read_one(query, read_alarm);
}

std::vector<Alarm> Alarms::open() const {
  Statement query{database_, std::string{select_alarms} + "WHERE cleared_at IS NULL ORDER BY id"};
  return read_all(query, read_alarm);
}

}  // namespace torchwatch::storage
