#include "storage/incident_events.h"

#include <optional>
#include <string>

#include "storage/database.h"
#include "storage/outbox.h"
#include "storage/rows.h"

namespace torchwatch::storage {
namespace {

constexpr auto select_events =
    "SELECT id, incident_id, kind, state, nightly_id, commit_sha, detail, at FROM incident_event ";

std::vector<BisectionId> reported_by(Database& database, std::int64_t event) {
  Statement query{database, "SELECT id FROM bisection WHERE event_id = ? ORDER BY id"};
  bind_all(query, event);
  return read_all(query,
                  [](SQLite::Statement& row) { return BisectionId{row.getColumn(0).getInt64()}; });
}

IncidentEvent read_event(Database& database, SQLite::Statement& row) {
  IncidentEvent event;
  event.id = row.getColumn(0).getInt64();
  event.incident.value = row.getColumn(1).getInt64();
  event.kind = read_word(row.getColumn(2), parse_incident_event_kind);
  event.state = read_word(row.getColumn(3), parse_incident_state);
  if (!row.getColumn(4).isNull()) event.nightly = NightlyId{row.getColumn(4).getInt64()};
  event.commit.hex = row.getColumn(5).getString();
  event.detail = row.getColumn(6).getString();
  event.at = read_time(row.getColumn(7));
  event.bisections = reported_by(database, event.id);
  return event;
}

std::int64_t insert_event(Database& database, IncidentEvent const& event) {
  Statement insert{
      database,
      "INSERT INTO incident_event (incident_id, kind, state, nightly_id, commit_sha, detail, at) "
      "VALUES (?, ?, ?, ?, ?, ?, ?)"};
  bind_all(insert,
           event.incident.value,
           std::string{to_string(event.kind)},
           std::string{to_string(event.state)},
           event.nightly ? std::optional{event.nightly->value} : std::nullopt,
           event.commit.hex,
           event.detail,
           seconds_of(event.at));
  insert.exec();
  return database.getLastInsertRowid();
}

void update_incident(Database& database, IncidentEvent const& event) {
  Statement update{
      database,
      "UPDATE incident SET state = ?, is_correction_reported = is_correction_reported OR "
      "(? AND correction = ?) WHERE id = ?"};
  bind_all(update,
           std::string{to_string(event.state)},
           event.kind == IncidentEventKind::answered ? 1 : 0,
           event.detail,
           event.incident.value);
  update.exec();
}

void mark_bisections(Database& database,
                     std::vector<BisectionId> const& bisections,
                     std::int64_t event) {
  for (auto const bisection : bisections) {
    Statement update{database, "UPDATE bisection SET event_id = ? WHERE id = ?"};
    bind_all(update, event, bisection.value);
    update.exec();
  }
}

}  // namespace

std::int64_t IncidentEvents::add(IncidentEvent const& event,
                                 std::vector<OutboxMessage> const& messages) {
  SQLite::Transaction transaction{database_, SQLite::TransactionBehavior::IMMEDIATE};
  auto const id = insert_event(database_, event);
  update_incident(database_, event);
  mark_bisections(database_, event.bisections, id);
  for (auto message : messages) {
    message.incident = event.incident;
    message.event = id;
    insert_message(database_, message);
  }
  transaction.commit();
  return id;
}

std::int64_t IncidentEvents::next_id() const {
  return database_.execAndGet("SELECT coalesce(max(id), 0) + 1 FROM incident_event").getInt64();
}

std::vector<IncidentEvent> IncidentEvents::of(IncidentId incident) const {
  Statement query{database_, std::string{select_events} + "WHERE incident_id = ? ORDER BY id"};
  bind_all(query, incident.value);
  return read_all(query, [this](SQLite::Statement& row) { return read_event(database_, row); });
}

std::vector<IncidentEvent> IncidentEvents::newest(int count) const {
  Statement query{database_, std::string{select_events} + "ORDER BY id DESC LIMIT ?"};
  bind_all(query, count);
  return read_all(query, [this](SQLite::Statement& row) { return read_event(database_, row); });
}

}  // namespace torchwatch::storage
