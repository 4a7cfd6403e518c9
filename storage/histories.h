#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/domain/night.h"

namespace torchwatch::storage {

class Database;

/// The series and their nightly summaries. The summaries are kept permanently, also when the raw
/// samples have been deleted. Throws SQLite::Exception when the disk fails.
class Histories {
 public:
  explicit Histories(Database& database) : database_{database} {}

  /// Computes and replaces the summaries of a nightly, for all series that its own processes have
  /// measured so far. Also stores which series were judged.
  void keep(NightlyId nightly);

  /// Returns all series with a summary, ordered by fleet, benchmark and metric.
  std::vector<Series> series() const;

  /// Returns the summaries of a series, in the order of nightlies.
  std::vector<NightOfSeries> of(Series const& series) const;

  /// Returns the last `count` summaries of a series, in the order of nightlies.
  std::vector<NightOfSeries> newest(Series const& series, int count) const;

  /// Returns the nightlies on which a benchmark has a summary, ordered by id.
  std::vector<NightlyId> nightlies_with(FleetBenchmark const& which) const;

  /// Returns the nightlies that have summaries, in their order.
  std::vector<NightlyId> nightlies() const;

  /// Returns the level of each series of a nightly, ordered by fleet, benchmark and metric.
  std::vector<LevelOfSeries> levels_of(NightlyId nightly) const;

  /// Returns the summaries of the last `count` nightlies that have any, for each series that has
  /// one. Ordered by fleet, benchmark and metric.
  std::vector<SeriesNights> recent(int count) const;

  /// Returns the fingerprint of a summary's host, a JSON object. When several hosts measured the
  /// nightly, the summary has one of them.
  std::string fingerprint(std::int64_t host) const;

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
