#pragma once

#include <map>

#include "storage/base/ids.h"
#include "storage/domain/benchmark.h"

namespace SQLite {
class Database;
}

namespace torchwatch::storage {

/// The baselines of series that a nightly's own baseline did not judge. Throws SQLite::Exception
/// when the disk fails.
class Baselines {
 public:
  explicit Baselines(SQLite::Database& database) : database_{database} {}

  /// Stores which series of a nightly are compared with another nightly than its baseline, in place
  /// of what was stored before: all of them or none.
  void choose(NightlyId nightly, std::map<Series, NightlyId> const& baselines);

  /// The stored ones; a series that is not there is compared with the nightly's own baseline.
  std::map<Series, NightlyId> of(NightlyId nightly) const;

 private:
  SQLite::Database& database_;
};

}  // namespace torchwatch::storage
