#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace torchwatch {

/// The day of "2026-01-02", which is how nightlies are dated; nothing for any other text, and when
/// there is no such day.
std::optional<std::chrono::sys_days> day_of(std::string_view date);

}  // namespace torchwatch
