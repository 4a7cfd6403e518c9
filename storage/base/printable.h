#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace torchwatch {

/// A line of a log is no longer than this. Bytes.
inline constexpr std::size_t longest_line = 8192;

/// Foreign text, fit for one line of a log or of a terminal: whatever would act instead of being
/// shown stands there escaped. That is control characters, the line's end among them (\n, \x1b),
/// what turns the direction of writing around or ends a line in Unicode (\u202e), and bytes that
/// are no UTF-8 (\xff). Of a longer text than `most` bytes the beginning, and how many are left
/// out.
std::string printable(std::string_view text, std::size_t most = longest_line);

/// The same for several lines, which stay lines, of any length.
std::string printable_lines(std::string_view text);

}  // namespace torchwatch
