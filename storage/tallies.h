#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "storage/base/clock.h"
#include "storage/domain/alarm.h"
#include "storage/domain/bisection.h"
#include "storage/domain/build.h"

namespace SQLite {
class Database;
}

namespace torchwatch::storage {

/// How much there is, for monitoring.
struct Tallies {
  /// Builds that were tried to the end, and what they took.
  struct BuildTally {
    std::int64_t count = 0;
    double seconds = 0;
  };

  std::map<NightlyState, std::int64_t> nightlies;
  std::optional<Timestamp> newest_announced;  ///< when the newest nightly was first seen
  std::optional<Timestamp> newest_judged;     ///< the same of the newest that was judged to the end
  std::int64_t incidents = 0;
  std::map<BisectionState, std::int64_t> bisections;
  std::int64_t bisection_steps = 0;
  std::map<std::string, BuildTally> builds;  ///< by outcome: "built", "unbuildable", ...
  std::map<AlarmKind, std::int64_t> open_alarms;
  std::int64_t bytes = 0;  ///< of the database file
};

/// Takes milliseconds, whatever is stored. Throws SQLite::Exception when the disk fails.
Tallies tallies_of(SQLite::Database& database);

}  // namespace torchwatch::storage
