#pragma once

#include "config/options.h"
#include "storage/store.h"

namespace torchwatch::service {

/// Returns the database's file: `state_dir/torchwatch.sqlite`.
std::string store_file(config::Options const& options);

/// Makes the state directory if it is missing, and opens its database for writing. Fails with
/// corrupt when the database is empty but its directory is not, otherwise as Store::open does.
Result<storage::Store> open_store(config::Options const& options);

}  // namespace torchwatch::service
