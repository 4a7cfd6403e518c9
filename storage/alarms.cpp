#include "storage/alarms.h"

#include "storage/database.h"
#include "storage/outbox.h"
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

/// Stores messages about an alarm.
void insert_messages(Database& database, AlarmId alarm, std::vector<OutboxMessage> messages) {
  for (auto& message : messages) {
    message.alarm = alarm;
    insert_message(database, message);
  }
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

bool Alarms::raise(Alarm const& alarm, std::vector<OutboxMessage> const& messages) {
  SQLite::Transaction transaction{database_, SQLite::TransactionBehavior::IMMEDIATE};
  bool const is_new = raise(alarm.kind, alarm.subject, alarm.detail, alarm.raised_at);
  if (is_new) insert_messages(database_, AlarmId{database_.getLastInsertRowid()}, messages);
  transaction.commit();
  return is_new;
}

bool Alarms::clear(AlarmId id, Timestamp now, std::vector<OutboxMessage> const& messages) {
  SQLite::Transaction transaction{database_, SQLite::TransactionBehavior::IMMEDIATE};
  Statement update{database_,
                   "UPDATE alarm SET cleared_at = ? WHERE id = ? AND cleared_at IS NULL"};
  bind_all(update, seconds_of(now), id.value);
  bool const was_open = update.exec() > 0;
  if (was_open) insert_messages(database_, id, messages);
  transaction.commit();
  return was_open;
}

std::optional<Alarm> Alarms::find_open(AlarmKind kind, std::string const& subject) const {
  Statement query{
      database_,
      std::string{select_alarms} + "WHERE kind = ? AND subject = ? AND cleared_at IS NULL"};
  bind_all(query, std::string{to_string(kind)}, subject);
  return read_one(query, read_alarm);
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
