#pragma once

#include <cstdint>

#include "daemon/api/json.h"

namespace torchwatch::api {

/// {of, false_alarms, share, low, high}: how many of `of`, and between what the true share lies
/// (Clopper and Pearson 1934, 95%). The last three are null while there is nothing to take it of.
Json share_of(std::int64_t false_alarms, std::int64_t of);

}  // namespace torchwatch::api
