#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace torchwatch {

/// Returns the day of a nightly's date, such as "2026-01-02". Returns nothing for other texts and
/// for days that do not exist.
std::optional<std::chrono::sys_days> day_of(std::string_view date);

}  // namespace torchwatch
