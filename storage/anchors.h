#pragma once

#include <optional>
#include <vector>

#include "storage/base/ids.h"
#include "storage/domain/benchmark.h"
#include "storage/domain/comparison.h"

namespace torchwatch::storage {

class Database;

/// The anchors of nightlies and the verdicts against them. An anchor stays for many nightlies, so
/// the sum of many small steps is found. Throws SQLite::Exception when the disk fails.
class Anchors {
 public:
  explicit Anchors(Database& database) : database_{database} {}

  /// Stores the anchor of a benchmark for a nightly. The first choice stays.
  void choose(FleetBenchmark const& which, NightlyId nightly, NightlyId anchor);
  std::optional<NightlyId> chosen(FleetBenchmark const& which, NightlyId nightly) const;

  /// Stores the verdict on one series of a nightly against its anchor. The first verdict stays.
  void record(NightlyId nightly, SeriesChange const& change);
  std::vector<SeriesChange> verdicts(NightlyId nightly) const;
  /// Returns the verdicts of all nightlies on a benchmark, in the order announced.
  std::vector<NightlyVerdict> verdicts_of(FleetBenchmark const& which) const;

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
