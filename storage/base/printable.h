#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace torchwatch {

/// The longest line of a log, in bytes.
inline constexpr std::size_t longest_line = 8192;

/// Returns foreign text as one safe line for a log or terminal. These are escaped: control
/// characters, also line ends (\n, \x1b); Unicode characters that change the direction of text or
/// end a line (\u202e); bytes that are not UTF-8 (\xff). A text of more than `most` bytes is cut,
/// and the number of bytes left out is added.
std::string printable(std::string_view text, std::size_t most = longest_line);

/// Escapes as printable() does, but keeps line ends, and does not cut.
std::string printable_lines(std::string_view text);

}  // namespace torchwatch
