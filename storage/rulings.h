#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/domain/ruling.h"

namespace SQLite {
class Database;
}

namespace torchwatch::storage {

/// What people said of the incidents of a month's nightlies; the last word on each counts.
struct MonthOfRulings {
  std::string month;  ///< "2026-01"
  std::int64_t incidents = 0;
  std::int64_t accepted = 0;
  std::int64_t false_alarms = 0;
};

/// What people decided about incidents and series. Throws SQLite::Exception when the disk fails.
class Rulings {
 public:
  explicit Rulings(SQLite::Database& database) : database_{database} {}

  /// Keeps a ruling and returns it with its id.
  Ruling give(Ruling ruling);

  /// Every ruling, newest first.
  std::vector<Ruling> all() const;
  std::optional<Ruling> find(RulingId id) const;
  /// In the order given.
  std::vector<Ruling> on(IncidentId incident) const;

  /// How many incidents the last word on them calls false.
  std::int64_t count_false_incidents() const;

  /// By month; one without incidents is not there.
  std::vector<MonthOfRulings> by_month() const;

  /// Whether somebody muted `series` and the mute has neither run out at `now` nor been ended.
  bool is_muted(Series const& series, Timestamp now) const;

 private:
  SQLite::Database& database_;
};

}  // namespace torchwatch::storage
