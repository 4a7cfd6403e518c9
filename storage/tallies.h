#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "storage/base/clock.h"
#include "storage/domain/alarm.h"
#include "storage/domain/bisection.h"
#include "storage/domain/build.h"
#include "storage/domain/incident.h"

namespace torchwatch::storage {

class Database;

/// Numbers of stored records, for monitoring.
struct Tallies {
  /// The builds with a final result, and their time.
  struct BuildTally {
    std::int64_t count = 0;
    double seconds = 0;
  };

  std::map<NightlyState, std::int64_t> nightlies;
  std::optional<Timestamp> newest_announced;  ///< when the newest nightly was first seen
  std::optional<Timestamp> newest_judged;     ///< when the newest judged nightly was first seen
  std::optional<Timestamp> last_judged;       ///< when a nightly was last seen to be judged
  std::int64_t incidents = 0;
  std::map<IncidentState, std::int64_t> incident_states;
  std::map<BisectionState, std::int64_t> bisections;
  std::int64_t bisection_steps = 0;
  std::map<std::string, BuildTally> builds;  ///< key is the outcome: "built", "unbuildable", ...
  std::map<AlarmKind, std::int64_t> open_alarms;
  std::int64_t bytes = 0;  ///< size of the database file
};

/// Reads the tallies. Takes milliseconds for any amount of data. Throws SQLite::Exception when the
/// disk fails.
Tallies tallies_of(Database& database);

}  // namespace torchwatch::storage
