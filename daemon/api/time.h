#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/base/clock.h"

namespace torchwatch::api {

/// Returns "2026-01-02T03:04:05Z".
std::string iso8601(Timestamp time);

/// Parses the form of iso8601, or a date, which is its first second. Returns nothing for other
/// text.
std::optional<Timestamp> parse_time(std::string_view text);

}  // namespace torchwatch::api
