#pragma once

#include "config/options.h"
#include "storage/store.h"

namespace torchwatch {

/// Queues a search that a person asked for. An equal one that is still queued or running is
/// returned instead. invalid_argument when commits cannot be built here, or when start and end are
/// not two commits of one line.
Result<Bisection> ask_for_search(storage::Store& store,
                                 config::SourceOptions const& source,
                                 BisectionRequest const& request,
                                 Timestamp now);

}  // namespace torchwatch
