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

  std::optional<Instant> heartbeat;    ///< when the loop last turned; none: not yet
  std::optional<Timestamp> last_pass;  ///< when a pass last came to its end
  int failed_passes = 0;               ///< in a row
  std::string failure;                 ///< why the last one failed
  std::string store_trouble;           ///< why nothing can be stored; empty: it can
  std::string store_damage;            ///< what is wrong with what is stored; empty: nothing known
  std::int64_t free_bytes = 0;         ///< of the disk that state_dir lies on
  /// By what the code of others is kept apart, on each fleet and where builds are made.
  std::map<std::string, std::string> isolation;

  /// Slots of a fleet.
  struct Slots {
    int all = 0;
    int taken = 0;  ///< something is being measured on them
  };

  std::map<std::string, Slots> slots;  ///< by fleet
};

/// Lists health problems, a sentence each: the loop has not turned for 40 s, three passes in a row
/// failed, nothing can be stored, the database is damaged, or the disk is full.
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
