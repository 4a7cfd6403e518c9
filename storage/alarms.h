#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/domain/alarm.h"

namespace torchwatch::storage {

class Database;

/// The table of alarms: present and past problems of torchwatch itself. At most one alarm of a kind
/// and subject is open. Throws SQLite::Exception when the disk fails.
class Alarms {
 public:
  explicit Alarms(Database& database) : database_{database} {}

  /// Opens an alarm and returns true. If it is already open, replaces its detail and returns false.
  bool raise(AlarmKind kind, std::string const& subject, std::string const& detail, Timestamp now);

  /// Closes the alarm and returns true, or false when none is open.
  bool clear(AlarmKind kind, std::string const& subject, Timestamp now);

  /// Returns all alarms, newest first.
  std::vector<Alarm> all() const;
  std::optional<Alarm> find(AlarmId id) const;
  /// Returns the open alarms in the order raised.
  std::vector<Alarm> open() const;

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
