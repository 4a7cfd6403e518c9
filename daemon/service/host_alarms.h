#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "storage/store.h"

namespace torchwatch::service {

/// The state of the service's host at one time.
struct HostReading {
  Timestamp clock{};                  ///< the clock that an operator can set
  std::chrono::nanoseconds uptime{};  ///< since the host started, suspended time included
  std::int64_t free_bytes = 0;        ///< free space on the disk of state_dir
  std::string store_trouble;          ///< reason why nothing can be stored; empty: it can
  std::int64_t open_files = 0;        ///< descriptors of this process
  std::int64_t most_files = 0;        ///< their limit; 0: unknown
};

/// Reads the state of this host. `store_trouble`: see HostReading.
HostReading read_host(std::string const& state_dir, std::string store_trouble, Clock const& clock);

/// Raises the alarms `host_degraded` and `passes_failed`, and clears them when the host has
/// recovered. Bounds for the end of an alarm differ from those for its beginning, so it does not
/// come and go. While the disk is full an alarm cannot be stored: it is logged then, and stored by
/// a later call. Single-threaded.
class HostAlarms {
 public:
  /// `store` must outlive it.
  explicit HostAlarms(storage::Store& store) : store_{store} {}

  /// Call it regularly. Returns true when the clock was set back since the last call: times that
  /// were stored before may be in the future.
  bool check(HostReading const& now);

  /// Call it after each pass. `failed`: the number of passes that failed in a row.
  void note_pass(int failed, std::string const& failure, Timestamp now);

 private:
  void check_disk(HostReading const& now);
  void check_descriptors(HostReading const& now);
  std::chrono::seconds check_clock(HostReading const& now);
  bool is_open(AlarmKind kind, std::string const& subject);
  void set(bool is_wrong, Alarm const& alarm);

  storage::Store& store_;
  std::optional<HostReading> last_;
};

}  // namespace torchwatch::service
