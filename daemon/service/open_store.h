#pragma once

#include <filesystem>

#include "config/options.h"
#include "storage/store.h"

namespace torchwatch::service {

/// Returns the file of the database in a state directory: `state_dir/torchwatch.sqlite`.
std::filesystem::path store_file_in(std::filesystem::path const& state_dir);

/// Returns the file of the configured database.
std::string store_file(config::Options const& options);

/// Makes the state directory if it is missing, and opens its database for writing. Fails with
/// corrupt when the database is empty but its directory is not, otherwise as Store::open does.
Result<storage::Store> open_store(config::Options const& options);

}  // namespace torchwatch::service
