#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/builds/build_users.h"

namespace torchwatch::builds {

/// The disk space that builds may take, in bytes.
struct DiskSpace {
  std::int64_t quota = 0;       ///< for all builds together; 0: no quota
  std::int64_t keep_free = 0;   ///< bytes of the disk that must stay free
  std::int64_t free = 0;        ///< bytes of the disk that are free now
  std::int64_t next_build = 0;  ///< size of the build that is about to be made; 0: none is
};

struct Removal {
  KeptBuild build;
  std::string reason;  ///< "quota: 10.9 of 10.0 GiB"
};

struct Pruning {
  std::vector<Removal> removals;  ///< the first is removed first
  std::string shortage;           ///< the limit that is exceeded even after them; empty: none
};

/// Chooses builds to remove until the limits of `space` are kept, the least recently measured
/// first. A build stays when it has users. It also stays when it was measured within the hour
/// before `now`, because its comparison may still run. Pure.
Pruning plan_pruning(std::vector<KeptBuild> builds,
                     BuildUsers const& users,
                     DiskSpace const& space,
                     Timestamp now);

/// True when `builds` fit without a removal. Pure.
bool has_space(std::vector<KeptBuild> const& builds, DiskSpace const& space);

/// Returns "1.5 GiB", or "1.5 MiB" below one GiB. Pure.
std::string size_text(std::int64_t bytes);

}  // namespace torchwatch::builds
