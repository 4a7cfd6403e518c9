#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/builds/holds.h"

namespace torchwatch::builds {

/// How much room builds have, in bytes.
struct Room {
  std::int64_t quota = 0;      ///< of all builds together; 0: none
  std::int64_t keep_free = 0;  ///< of the disk
  std::int64_t free = 0;       ///< of the disk, now
  std::int64_t coming = 0;     ///< the build that is about to be made
};

struct Removal {
  KeptBuild build;
  std::string reason;  ///< "quota: 10.9 of 10.0 GiB"
};

struct Pruning {
  std::vector<Removal> removals;  ///< in their order
  std::string lack;               ///< what is still wanted after them; empty: nothing
};

/// Which of `builds` to remove so that there is room: the one used longest ago first, of those that
/// nobody holds and that were not used within the hour before `now`, since somebody may be about to
/// measure them. Pure.
Pruning plan_pruning(std::vector<KeptBuild> builds,
                     Holds const& holds,
                     Room const& room,
                     Timestamp now);

/// Whether there is room without removing anything. Pure.
bool has_room(std::vector<KeptBuild> const& builds, Room const& room);

/// "1.5 GiB". Pure.
std::string size_text(std::int64_t bytes);

}  // namespace torchwatch::builds
