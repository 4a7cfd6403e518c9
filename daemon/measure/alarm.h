#pragma once

#include <string>

#include "storage/store.h"

namespace torchwatch::measure {

/// Raises or clears an alarm, and says so in the log when that is news (`alarm_raised`,
/// `alarm_cleared`).
void set_alarm(storage::Store& store,
               Timestamp now,
               bool is_wrong,
               AlarmKind kind,
               std::string const& subject,
               std::string const& detail);

}  // namespace torchwatch::measure
