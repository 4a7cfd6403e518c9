#pragma once

#include <optional>
#include <vector>

#include "storage/base/ids.h"
#include "storage/domain/benchmark.h"
#include "storage/domain/comparison.h"

namespace SQLite {
class Database;
}

namespace torchwatch::storage {

/// Nightlies against an older one that stays, so that many small steps are seen together. Throws
/// SQLite::Exception when the disk fails.
class Anchors {
 public:
  explicit Anchors(SQLite::Database& database) : database_{database} {}

  /// Keeps what a nightly was anchored to; the first choice stays.
  void choose(FleetBenchmark const& which, NightlyId nightly, NightlyId anchor);
  std::optional<NightlyId> chosen(FleetBenchmark const& which, NightlyId nightly) const;

  /// Keeps the verdict on one series of a nightly against its anchor; a verdict is given once.
  void record(NightlyId nightly, SeriesChange const& change);
  std::vector<SeriesChange> verdicts(NightlyId nightly) const;
  /// Those on a benchmark of all nightlies, in the order announced.
  std::vector<NightlyVerdict> verdicts_of(FleetBenchmark const& which) const;

 private:
  SQLite::Database& database_;
};

}  // namespace torchwatch::storage
