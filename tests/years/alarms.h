#pragma once

#include "storage/store.h"
#include "tests/years/history.h"

namespace torchwatch::years {

/// Raises the alarm or clears it, whichever it is not yet, at the time when it says that it was
/// raised.
void set_alarm(storage::Store& store, bool is_wrong, Alarm const& alarm);

/// What was wrong with the watching until a night and in it, but for drifts, of which only
/// comparisons know.
void look_at_night(History const& history, storage::Store& store, std::size_t night);

}  // namespace torchwatch::years
