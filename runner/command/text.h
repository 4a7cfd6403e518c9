#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torchwatch::command {

/// Returns `text` without white space at both ends.
std::string_view trimmed(std::string_view text);

/// Returns the beginning of foreign text for a message: at most 180 bytes, and "..." when it is
/// cut.
std::string shortened(std::string_view text);

/// Returns the lines of `text`, without line ends. The last one may lack its newline.
std::vector<std::string_view> lines_of(std::string_view text);

/// Returns the last line that is not blank, trimmed and shortened. Empty when all are blank.
std::string last_line(std::string_view text);

/// Returns the words with `separator` between them.
std::string joined(std::vector<std::string> const& words, std::string const& separator = ", ");

}  // namespace torchwatch::command
