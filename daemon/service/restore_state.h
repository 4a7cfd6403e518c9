#pragma once

#include <filesystem>

#include "storage/backup.h"
#include "storage/base/clock.h"
#include "storage/base/result.h"

namespace torchwatch::service {

/// A state that was restored.
struct RestoredState {
  storage::Restored store;
  int reports = 0;  ///< the report files that were written again
};

/// Restores the database of `state_dir` from the backup `file`, and opens it once, which brings it
/// to the newest version. Writes the report files of incidents that the directory lacks. Builds are
/// not part of a backup: the service gets those that it needs again. Fails as storage::restore and
/// Store::open do; with unavailable when a report cannot be written.
Result<RestoredState> restore_state(std::filesystem::path const& file,
                                    std::filesystem::path const& state_dir,
                                    storage::IfExists if_exists,
                                    Timestamp now);

}  // namespace torchwatch::service
