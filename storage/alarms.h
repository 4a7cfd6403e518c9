#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/domain/alarm.h"
#include "storage/domain/outbox.h"

namespace torchwatch::storage {

class Database;

/// The table of alarms: present and past problems of torchwatch itself. At most one alarm of a kind
/// and subject is open. Throws SQLite::Exception when the disk fails.
class Alarms {
 public:
  explicit Alarms(Database& database) : database_{database} {}

  /// Opens an alarm and returns true. If it is already open, replaces its detail and returns false.
  bool raise(AlarmKind kind, std::string const& subject, std::string const& detail, Timestamp now);

  /// Does what raise() does, and stores `messages` about a new alarm with it in one transaction.
  bool raise(Alarm const& alarm, std::vector<OutboxMessage> const& messages);

  /// Closes the alarm and returns true, or false when none is open.
  bool clear(AlarmKind kind, std::string const& subject, Timestamp now);

  /// Closes an open alarm, and stores `messages` about that in the same transaction. Returns false
  /// when it is closed already.
  bool clear(AlarmId id, Timestamp now, std::vector<OutboxMessage> const& messages);

  /// Returns the open alarm of a kind and subject.
  std::optional<Alarm> find_open(AlarmKind kind, std::string const& subject) const;

  /// Returns all alarms, newest first.
  std::vector<Alarm> all() const;
  std::optional<Alarm> find(AlarmId id) const;
  /// Returns the open alarms in the order raised.
  std::vector<Alarm> open() const;

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
