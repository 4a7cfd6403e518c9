#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/domain/ruling.h"

namespace torchwatch::storage {

class Database;

/// The rulings about the incidents of one month's nightlies. Only the last ruling on an incident
/// counts.
struct MonthOfRulings {
  std::string month;  ///< "2026-01"
  std::int64_t incidents = 0;
  std::int64_t accepted = 0;
  std::int64_t false_alarms = 0;
};

/// The table of rulings about incidents and series. Throws SQLite::Exception when the disk fails.
class Rulings {
 public:
  explicit Rulings(Database& database) : database_{database} {}

  /// Stores a ruling and returns it with its id.
  Ruling give(Ruling ruling);

  /// Returns all rulings, newest first.
  std::vector<Ruling> all() const;
  std::optional<Ruling> find(RulingId id) const;
  /// Returns the rulings on an incident in the order given.
  std::vector<Ruling> on(IncidentId incident) const;

  /// Returns the number of incidents whose last ruling is `false_alarm`.
  std::int64_t count_false_incidents() const;

  /// Returns the rulings by month. Months without incidents are absent.
  std::vector<MonthOfRulings> by_month() const;

  /// True when a mute of `series` has neither expired at `now` nor been ended by an unmute.
  bool is_muted(Series const& series, Timestamp now) const;

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
