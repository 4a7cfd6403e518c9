#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/domain/night.h"

namespace SQLite {
class Database;
}

namespace torchwatch::storage {

/// The series and their nights: a row each, for ever, when the processes they were taken from are
/// gone. Throws SQLite::Exception when the disk fails.
class Histories {
 public:
  explicit Histories(SQLite::Database& database) : database_{database} {}

  /// Works out the nights of all series that a nightly's own processes have measured so far, and
  /// which of them were judged, in place of what was worked out before.
  void keep(NightlyId nightly);

  /// The series that ever had a night, by fleet, benchmark and metric.
  std::vector<Series> series() const;

  /// The nights of a series, in the order of nightlies.
  std::vector<NightOfSeries> of(Series const& series) const;

  /// The last `count` of them, in the same order.
  std::vector<NightOfSeries> newest(Series const& series, int count) const;

  /// The nightlies on which a benchmark gave anything, by id.
  std::vector<NightlyId> nightlies_with(FleetBenchmark const& which) const;

  /// The nightlies that have nights, in their order.
  std::vector<NightlyId> nightlies() const;

  /// What a nightly came to on each of its series, by fleet, benchmark and metric.
  std::vector<LevelOfSeries> levels_of(NightlyId nightly) const;

  /// Of the last `count` nightlies that have nights what each series had on them; a series that had
  /// none is not there. By fleet, benchmark and metric.
  std::vector<SeriesNights> recent(int count) const;

  /// What the host of a night says of itself, a JSON object: the one that its last round ran on.
  std::string fingerprint(std::int64_t host) const;

 private:
  SQLite::Database& database_;
};

}  // namespace torchwatch::storage
