#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/base/clock.h"

namespace torchwatch::api {

/// "2026-01-02T03:04:05Z".
std::string iso8601(Timestamp time);

/// The inverse of iso8601; a date alone is its first second. Nothing for anything else.
std::optional<Timestamp> parse_time(std::string_view text);

}  // namespace torchwatch::api
