#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/domain/alarm.h"

namespace SQLite {
class Database;
}

namespace torchwatch::storage {

/// What is or was wrong with the watching. At most one alarm of a kind and subject is open. Throws
/// SQLite::Exception when the disk fails.
class Alarms {
 public:
  explicit Alarms(SQLite::Database& database) : database_{database} {}

  /// Opens an alarm and returns true, or false when it is open already: then it is the same, and
  /// tells `detail` from now on.
  bool raise(AlarmKind kind, std::string const& subject, std::string const& detail, Timestamp now);

  /// Closes the alarm and returns true, or false when none is open.
  bool clear(AlarmKind kind, std::string const& subject, Timestamp now);

  /// Every alarm, newest first.
  std::vector<Alarm> all() const;
  std::optional<Alarm> find(AlarmId id) const;
  /// In the order raised.
  std::vector<Alarm> open() const;

 private:
  SQLite::Database& database_;
};

}  // namespace torchwatch::storage
