#pragma once

#include <map>

#include "storage/base/ids.h"
#include "storage/domain/benchmark.h"

namespace torchwatch::storage {

class Database;

/// The baselines of series that are not compared with their nightly's own baseline, because that
/// did not judge them. Throws SQLite::Exception when the disk fails.
class Baselines {
 public:
  explicit Baselines(Database& database) : database_{database} {}

  /// Replaces the stored baselines of a nightly, all or nothing. `baselines`: the series that are
  /// compared with another nightly than its own baseline.
  void choose(NightlyId nightly, std::map<Series, NightlyId> const& baselines);

  /// Returns the stored baselines. A series that is absent is compared with the nightly's own
  /// baseline.
  std::map<Series, NightlyId> of(NightlyId nightly) const;

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
