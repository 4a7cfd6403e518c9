#include "storage/outbox.h"

#include "storage/database.h"
#include "storage/rows.h"
#include "storage/state_paths.h"

namespace torchwatch::storage {
namespace {

constexpr auto select_messages =
    "SELECT id, incident_id, event_id, destination, action, title, body, marker, labels, sent_at, "
    "done_at, attempts, next_at, failure, place, rejected_at, alarm_id FROM outbox ";

std::optional<Timestamp> read_optional_time(SQLite::Column const& column) {
  return column.isNull() ? std::nullopt : std::optional{read_time(column)};
}

OutboxEntry read_entry(Database& database, SQLite::Statement& row) {
  OutboxEntry entry;
  auto& message = entry.message;
  message.id = row.getColumn(0).getInt64();
  message.incident.value = row.getColumn(1).getInt64();  // NULL is read as 0
  message.event = row.getColumn(2).getInt64();
  message.alarm.value = row.getColumn(16).getInt64();
  message.destination = row.getColumn(3).getString();
  message.action = read_word(row.getColumn(4), parse_outbox_action);
  message.title = row.getColumn(5).getString();
  message.body = row.getColumn(6).getString();
  message.marker = row.getColumn(7).getString();
  message.labels = lines_of(row.getColumn(8).getString());
  entry.sent_at = read_optional_time(row.getColumn(9));
  entry.done_at = read_optional_time(row.getColumn(10));
  entry.attempts = row.getColumn(11).getInt();
  entry.next_at = read_optional_time(row.getColumn(12));
  entry.failure = row.getColumn(13).getString();
  entry.place = path_of(database, row.getColumn(14).getString());
  entry.rejected_at = read_optional_time(row.getColumn(15));
  return entry;
}

std::vector<OutboxEntry> read_entries(Database& database, SQLite::Statement& query) {
  return read_all(query, [&](SQLite::Statement& row) { return read_entry(database, row); });
}

/// Returns nothing for the id of no row.
std::optional<std::int64_t> null_if_none(std::int64_t id) {
  return id == 0 ? std::nullopt : std::optional{id};
}

/// Returns the first text of a query with one column; empty when there is none.
std::string first_text(SQLite::Statement& query) {
  return query.executeStep() ? query.getColumn(0).getString() : std::string{};
}

}  // namespace

void insert_message(Database& database, OutboxMessage const& message) {
  Statement insert{
      database,
      "INSERT INTO outbox (incident_id, event_id, alarm_id, destination, action, title, body, "
      "marker, labels) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"};
  bind_all(insert,
           null_if_none(message.incident.value),
           null_if_none(message.event),
           null_if_none(message.alarm.value),
           message.destination,
           std::string{to_string(message.action)},
           message.title,
           message.body,
           message.marker,
           text_of(message.labels));
  insert.exec();
}

std::vector<OutboxEntry> Outbox::next_due(Timestamp now) const {
  Statement query{database_,
                  std::string{select_messages} +
                      "WHERE id IN (SELECT min(id) FROM outbox WHERE done_at IS NULL "
                      "GROUP BY incident_id, alarm_id, destination) "
                      "AND (next_at IS NULL OR next_at <= ?) ORDER BY id"};
  bind_all(query, seconds_of(now));
  return read_entries(database_, query);
}

std::optional<OutboxEntry> Outbox::find(std::int64_t id) const {
  Statement query{database_, std::string{select_messages} + "WHERE id = ?"};
  bind_all(query, id);
  return read_one(query, [this](SQLite::Statement& row) { return read_entry(database_, row); });
}

std::vector<OutboxEntry> Outbox::of(IncidentId incident) const {
  Statement query{database_, std::string{select_messages} + "WHERE incident_id = ? ORDER BY id"};
  bind_all(query, incident.value);
  return read_entries(database_, query);
}

std::vector<OutboxEntry> Outbox::of_alarm(AlarmId alarm) const {
  Statement query{database_, std::string{select_messages} + "WHERE alarm_id = ? ORDER BY id"};
  bind_all(query, alarm.value);
  return read_entries(database_, query);
}

std::vector<OutboxEntry> Outbox::of_event(std::int64_t event) const {
  Statement query{database_, std::string{select_messages} + "WHERE event_id = ? ORDER BY id"};
  bind_all(query, event);
  return read_entries(database_, query);
}

std::vector<OutboxEntry> Outbox::unfinished() const {
  Statement query{database_, std::string{select_messages} + "WHERE done_at IS NULL ORDER BY id"};
  return read_entries(database_, query);
}

void Outbox::mark_sent(std::int64_t id, std::optional<Timestamp> at) {
  Statement update{database_, "UPDATE outbox SET sent_at = ? WHERE id = ?"};
  bind_all(update, at ? std::optional{seconds_of(*at)} : std::nullopt, id);
  update.exec();
}

void Outbox::finish(std::int64_t id,
                    std::string const& place,
                    std::string const& digest,
                    Timestamp now) {
  Statement update{
      database_,
      "UPDATE outbox SET done_at = ?, failure = '', place = ?, body_digest = ? WHERE id = ?"};
  bind_all(update, seconds_of(now), stored_path(database_, place), digest, id);
  update.exec();
}

void Outbox::postpone(std::int64_t id,
                      std::string const& failure,
                      Timestamp next_at,
                      std::optional<Timestamp> rejected_at) {
  Statement update{database_,
                   "UPDATE outbox SET attempts = attempts + 1, next_at = ?, failure = ?, "
                   "rejected_at = coalesce(rejected_at, ?) WHERE id = ?"};
  bind_all(update,
           seconds_of(next_at),
           failure,
           rejected_at ? std::optional{seconds_of(*rejected_at)} : std::nullopt,
           id);
  update.exec();
}

void Outbox::retry_now() {
  Statement update{
      database_, "UPDATE outbox SET next_at = NULL WHERE done_at IS NULL AND next_at IS NOT NULL"};
  update.exec();
}

void Outbox::give_up(std::int64_t id, std::string const& failure, Timestamp now) {
  Statement update{
      database_,
      "UPDATE outbox SET done_at = ?1, failure = ?2 WHERE done_at IS NULL AND id >= ?3 "
      "AND (coalesce(incident_id, 0), coalesce(alarm_id, 0), destination) = "
      "(SELECT coalesce(incident_id, 0), coalesce(alarm_id, 0), destination FROM outbox "
      "WHERE id = ?3)"};
  bind_all(update, seconds_of(now), failure, id);
  update.exec();
}

void Outbox::give_up_alone(std::int64_t id, std::string const& failure, Timestamp now) {
  Statement update{database_, "UPDATE outbox SET done_at = ?, failure = ? WHERE id = ?"};
  bind_all(update, seconds_of(now), failure, id);
  update.exec();
}

std::string Outbox::place_of(IncidentId incident, std::string const& destination) const {
  Statement query{database_,
                  "SELECT place FROM outbox WHERE incident_id = ? AND destination = ? "
                  "AND place <> '' ORDER BY id LIMIT 1"};
  bind_all(query, incident.value, destination);
  return path_of(database_, first_text(query));
}

std::string Outbox::place_of(OutboxMessage const& message) const {
  if (message.alarm.value == 0) return place_of(message.incident, message.destination);
  Statement query{database_,
                  "SELECT place FROM outbox WHERE alarm_id = ? AND destination = ? "
                  "AND place <> '' ORDER BY id LIMIT 1"};
  bind_all(query, message.alarm.value, message.destination);
  return path_of(database_, first_text(query));
}

std::string Outbox::body_digest(IncidentId incident, std::string const& destination) const {
  Statement query{database_,
                  "SELECT body_digest FROM outbox WHERE incident_id = ? AND destination = ? "
                  "AND body_digest <> '' ORDER BY id DESC LIMIT 1"};
  bind_all(query, incident.value, destination);
  return first_text(query);
}

}  // namespace torchwatch::storage
