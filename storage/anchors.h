#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/domain/comparison.h"
#include "storage/domain/ids.h"

namespace SQLite {
class Database;
}

namespace torchwatch::storage {

/// A benchmark on one fleet.
struct FleetBenchmark {
  std::string fleet;
  Benchmark benchmark;
};

/// Nightlies against an older one that stays, so that many small steps are seen together. Throws
/// SQLite::Exception when the disk fails.
class Anchors {
 public:
  explicit Anchors(SQLite::Database& database) : database_{database} {}

  /// What `nightly` may be anchored to: the nightlies before it that were judged to the end, oldest
  /// first, from the last one on at which the benchmark regressed, was found better than its
  /// anchor, or somebody accepted its level.
  std::vector<NightlyId> candidates(FleetBenchmark const& which, NightlyId nightly) const;

  /// Keeps what a nightly was anchored to; the first choice stays.
  void choose(FleetBenchmark const& which, NightlyId nightly, NightlyId anchor);
  std::optional<NightlyId> chosen(FleetBenchmark const& which, NightlyId nightly) const;

  /// Keeps the verdict on one series of a nightly against its anchor; a verdict is given once.
  void record(NightlyId nightly, SeriesChange const& change);
  std::vector<SeriesChange> verdicts(NightlyId nightly) const;

 private:
  SQLite::Database& database_;
};

}  // namespace torchwatch::storage
