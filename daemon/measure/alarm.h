#pragma once

#include "storage/store.h"

namespace torchwatch::measure {

/// Raises an alarm at its `raised_at`, or clears it then, and says so in the log when that is news
/// (`alarm_raised`, `alarm_cleared`).
void set_alarm(storage::Store& store, bool is_wrong, Alarm const& alarm);

}  // namespace torchwatch::measure
