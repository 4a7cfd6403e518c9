#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/base/clock.h"

namespace torchwatch::storage {

class Database;

/// One key of the configuration that differs from the start before.
struct ConfigurationChange {
  std::string key;     ///< "decide.threshold"
  std::string before;  ///< its value as JSON; empty: none
  std::string after;
  std::string effect;  ///< its effect on the history, for people
  Timestamp at{};      ///< when it was first used
};

/// The configuration of the last start, and its changes. Throws SQLite::Exception when the disk
/// fails.
class Configurations {
 public:
  explicit Configurations(Database& database) : database_{database} {}

  /// Returns what note() stored last; nothing before.
  std::optional<std::string> last() const;

  /// Stores the parts of the configuration that matter for the history, as JSON, with their
  /// changes, in one transaction.
  void note(std::string const& json, std::vector<ConfigurationChange> const& changes);

  /// Returns the newest changes, newest first.
  std::vector<ConfigurationChange> newest(int count) const;

  /// Renames a fleet in all records: results, histories, verdicts, incidents, bisections, rulings
  /// and alarms. Returns the number of changed rows. One transaction; a repetition changes nothing.
  ///
  /// A row stays under its old name when the new fleet has its own row in its place. Of a nightly's
  /// summaries of both, the new fleet's stays.
  int rename_fleet(std::string const& before, std::string const& after);

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
