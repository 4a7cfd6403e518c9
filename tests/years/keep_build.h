#pragma once

#include <filesystem>
#include <string>

#include "storage/store.h"
#include "tests/years/chance.h"
#include "tests/years/history.h"

namespace torchwatch::years {

/// A build in the service's directory: its row, and an empty folder, without which the service
/// would drop the row when it starts.
void keep_build(storage::Store& store,
                std::filesystem::path const& state_dir,
                std::string const& name,
                Timestamp made_at,
                Chance& chance);

/// Those of the newest nightlies and of young incidents. One is pinned.
void keep_builds(History const& history,
                 storage::Store& store,
                 std::filesystem::path const& state_dir);

}  // namespace torchwatch::years
