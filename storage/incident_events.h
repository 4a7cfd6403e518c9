#pragma once

#include <cstdint>
#include <vector>

#include "storage/domain/incident.h"
#include "storage/domain/outbox.h"

namespace torchwatch::storage {

class Database;

/// The events of incidents. Throws SQLite::Exception when the disk fails.
class IncidentEvents {
 public:
  explicit IncidentEvents(Database& database) : database_{database} {}

  /// Stores an event, the state of its incident afterwards, and the messages about it: all or
  /// nothing. Marks the event's bisections as reported, and the incident's correction if it is the
  /// detail of an event `answered`.
  /// Ignores the ids in `event` and `messages`, and their incidents and events. Returns the id of
  /// the event, which next_id() returned before.
  std::int64_t add(IncidentEvent const& event, std::vector<OutboxMessage> const& messages);

  /// Returns the id that the next event will have.
  std::int64_t next_id() const;

  /// Returns the events of an incident in the order stored.
  std::vector<IncidentEvent> of(IncidentId incident) const;

  /// Returns the last `count` events of all incidents, newest first.
  std::vector<IncidentEvent> newest(int count) const;

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
