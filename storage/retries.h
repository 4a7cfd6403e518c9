#pragma once

#include <optional>
#include <string>

#include "storage/domain/retry.h"

namespace SQLite {
class Database;
}

namespace torchwatch::storage {

/// What could not be had yet, so that restarts and separate processes share one patience. Throws
/// SQLite::Exception when the disk fails.
class Retries {
 public:
  explicit Retries(SQLite::Database& database) : database_{database} {}

  std::optional<Retry> find(std::string const& subject) const;

  /// Stores that an attempt failed `now`. Returns the record; its `since` is that of the first.
  Retry note(std::string const& subject, Timestamp now, std::string const& reason);

  /// Deletes the record, if there is one: the subject is there, or may be asked for anew.
  void forget(std::string const& subject);

 private:
  SQLite::Database& database_;
};

}  // namespace torchwatch::storage
