#pragma once

#include "config/options.h"
#include "storage/store.h"

namespace torchwatch::service {

/// The database's file: `state_dir/torchwatch.sqlite`.
std::string store_file(config::Options const& options);

/// Makes the state directory if need be and opens its database for writing. Fails with corrupt when
/// the database is empty and its directory is not, else as Store::open.
Result<storage::Store> open_store(config::Options const& options);

}  // namespace torchwatch::service
