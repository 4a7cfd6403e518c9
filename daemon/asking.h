#pragma once

#include "config/options.h"
#include "storage/store.h"

namespace torchwatch {

/// Queues a search that a person asked for. An equal one that has not ended, be it paused, is
/// returned instead. invalid_argument when commits cannot be built here, or when start and end are
/// not two commits of one line.
Result<Bisection> ask_for_search(storage::Store& store,
                                 config::SourceOptions const& source,
                                 BisectionRequest const& request,
                                 Timestamp now);

/// Stores that a search is paused, resumed (`queued`) or cancelled; Searching::steer has it obey.
/// One that runs need not be resumed, and stays as it is. not_found when nobody knows it, refused
/// when it has ended.
Result<Bisection> steer_search(storage::Store& store, BisectionId id, BisectionState state);

}  // namespace torchwatch
