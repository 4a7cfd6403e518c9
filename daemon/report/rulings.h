#pragma once

#include "storage/store.h"

namespace torchwatch::report {

/// Keeps what a person decided. not_found when the incident is not there, invalid_argument when a
/// mute would end before it begins.
Result<Ruling> give_ruling(storage::Store& store, Ruling ruling, Timestamp now);

}  // namespace torchwatch::report
