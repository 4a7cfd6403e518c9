#pragma once

#include <optional>
#include <string>

#include "storage/domain/retry.h"

namespace torchwatch::storage {

class Database;

/// The steps that wait for a retry. They are stored, so all processes and restarts use the same
/// time limit. Throws SQLite::Exception when the disk fails.
class Retries {
 public:
  explicit Retries(Database& database) : database_{database} {}

  std::optional<Retry> find(std::string const& subject) const;

  /// Stores that an attempt failed `now`. Returns the record, with `since` of the first attempt.
  Retry note(std::string const& subject, Timestamp now, std::string const& reason);

  /// Deletes the record, if there is one. Call it when the step succeeded or may start over.
  void forget(std::string const& subject);

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
