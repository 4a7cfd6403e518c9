#pragma once

#include "storage/store.h"

namespace torchwatch::measure {

/// Raises an alarm at its `raised_at`, or clears it then. Logs it if that changes anything
/// (`alarm_raised`, `alarm_cleared`).
void set_alarm(storage::Store& store, bool is_wrong, Alarm const& alarm);

}  // namespace torchwatch::measure
