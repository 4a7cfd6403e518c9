#pragma once

#include <string>
#include <string_view>

namespace torchwatch::process {

/// The beginning of foreign text, fit for a one-line message: at most 180 bytes, as `printable`
/// shows them, and how many more there were.
std::string excerpt(std::string_view text);

/// The last three lines that are not blank, joined by " | ", each fit for a message. Empty when
/// there are none.
std::string last_lines(std::string_view text);

}  // namespace torchwatch::process
