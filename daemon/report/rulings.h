#pragma once

#include "storage/store.h"

namespace torchwatch::report {

/// Stores the decision of a user. Fails with not_found when the incident does not exist, with
/// invalid_argument when a mute would end before it begins.
Result<Ruling> give_ruling(storage::Store& store, Ruling ruling, Timestamp now);

}  // namespace torchwatch::report
