#include "daemon/api/health.h"

#include <fmt/format.h>

namespace torchwatch::api {

namespace {

using namespace std::chrono_literals;

/// Several beats, and a long git walk.
constexpr auto longest_pause = 40s;
constexpr int too_many_failures = 3;
/// SQLite's log, and a report.
constexpr std::int64_t least_free = std::int64_t{64} << 20;

}  // namespace

std::vector<std::string> troubles_of(Vitals const& vitals, Vitals::Instant now) {
  std::vector<std::string> troubles;
  if (!vitals.heartbeat) return troubles;
  auto const pause = now - *vitals.heartbeat;
  if (pause > longest_pause) {
    troubles.push_back(fmt::format("the watching loop has been blocked for {} s",
                                   std::chrono::floor<std::chrono::seconds>(pause).count()));
  }
  if (vitals.failed_passes >= too_many_failures) {
    troubles.push_back(
        fmt::format("{} passes in a row failed: {}", vitals.failed_passes, vitals.failure));
  }
  if (!vitals.store_trouble.empty())
    troubles.push_back("nothing can be stored: " + vitals.store_trouble);
  if (!vitals.store_damage.empty()) troubles.push_back(vitals.store_damage);
  if (vitals.free_bytes < least_free) {
    troubles.push_back(fmt::format("the disk of state_dir is full: {} MiB are free, needed are {}",
                                   vitals.free_bytes >> 20,
                                   least_free >> 20));
  }
  return troubles;
}

}  // namespace torchwatch::api
