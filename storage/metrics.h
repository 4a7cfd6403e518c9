#pragma once

#include "storage/base/result.h"

namespace torchwatch::storage {

class Database;

/// The table of the metrics that suites declare. It keeps series readable when their suite is no
/// longer configured. Throws SQLite::Exception when the disk fails.
class Metrics {
 public:
  explicit Metrics(Database& database) : database_{database} {}

  /// Declares all stored metrics for this program. A metric that the configuration declares keeps
  /// that declaration. Fails with invalid_argument when the configuration declares another unit or
  /// direction, because the stored values would get another meaning.
  Result<> declare() const;

  /// Stores the declarations of this program, except those of the native suite. Writes only rows
  /// that are new or differ.
  void record();

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
