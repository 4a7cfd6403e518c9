#include "daemon/api/health.h"

#include <fmt/format.h>

namespace torchwatch::api {

namespace {

using namespace std::chrono_literals;

/// Several heartbeats, and the longest walk through git history.
constexpr auto longest_pause = 40s;
constexpr int too_many_failures = 3;
/// Enough for SQLite's write-ahead log, and a report.
constexpr std::int64_t least_free = std::int64_t{64} << 20;

}  // namespace

std::vector<std::string> troubles_of(HealthState const& health, HealthState::Instant now) {
  std::vector<std::string> troubles;
  if (!health.heartbeat) return troubles;
  auto const pause = now - *health.heartbeat;
  if (pause > longest_pause) {
    troubles.push_back(fmt::format("the watch loop has been blocked for {} s, allowed are {} s",
                                   std::chrono::floor<std::chrono::seconds>(pause).count(),
                                   longest_pause.count()));
  }
  if (health.failed_passes >= too_many_failures) {
    troubles.push_back(
        fmt::format("{} passes in a row failed: {}", health.failed_passes, health.failure));
  }
  if (!health.store_trouble.empty())
    troubles.push_back("nothing can be stored: " + health.store_trouble);
  if (!health.store_damage.empty()) troubles.push_back(health.store_damage);
  if (health.free_bytes < least_free) {
    troubles.push_back(fmt::format("the disk of state_dir is full: {} MiB are free, {} are needed",
                                   health.free_bytes >> 20,
                                   least_free >> 20));
  }
  return troubles;
}

}  // namespace torchwatch::api
