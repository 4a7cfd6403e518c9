#pragma once

#include <string>
#include <string_view>

namespace torchwatch::process {

/// Returns the beginning of untrusted text for a one-line message: at most 180 bytes, as
/// `printable` shows them, and the number of bytes left out.
std::string excerpt(std::string_view text);

/// Returns the last three lines that are not blank, each as an `excerpt`, joined by " | ". Empty
/// when all lines are blank.
std::string last_lines(std::string_view text);

}  // namespace torchwatch::process
