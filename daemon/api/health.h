#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/clock.h"

namespace torchwatch::api {

/// The health of the watch loop.
struct HealthState {
  using Instant = std::chrono::steady_clock::time_point;

  std::optional<Instant> heartbeat;    ///< last sign of the loop; nothing: not started
  std::optional<Timestamp> last_pass;  ///< end of the last pass
  int failed_passes = 0;               ///< failures in a row
  std::string failure;                 ///< reason of the last failure
  std::string store_trouble;           ///< reason why nothing can be stored; empty: it can
  std::string store_damage;            ///< damage of the database; empty: none is known
  std::int64_t free_bytes = 0;         ///< free space on the disk of state_dir
  /// The kind of isolation of programs of others, by fleet and for builds.
  std::map<std::string, std::string> isolation;

  /// Slots of a fleet.
  struct Slots {
    int all = 0;
    int taken = 0;        ///< slots that measure
    int quarantined = 0;  ///< slots that measure only check rounds
  };

  std::map<std::string, Slots> slots;  ///< key: fleet
};

/// Returns the health problems, one sentence each: the loop has been blocked for more than 40 s,
/// three passes in a row failed, nothing can be stored, the database is damaged, or the disk has
/// less than 64 MiB free. Returns none before the loop has started.
std::vector<std::string> troubles_of(HealthState const& health, HealthState::Instant now);

/// Passes the health from the watch loop to the HTTP thread. Thread-safe.
class SharedHealth {
 public:
  void set(HealthState health) {
    std::scoped_lock const lock{mutex_};
    state_ = std::move(health);
  }

  HealthState get() const {
    std::scoped_lock const lock{mutex_};
    return state_;
  }

 private:
  mutable std::mutex mutex_;
  HealthState state_;
};

}  // namespace torchwatch::api
