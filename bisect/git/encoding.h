#pragma once

#include <string>

namespace torchwatch::bisect {

/// Returns `text` in UTF-8. `encoding` is the character set from the commit's header of that name,
/// such as "ISO-8859-1". The text is not changed if that is empty or unknown to the C library, or
/// if the text is invalid in it.
std::string utf8_of(std::string text, std::string const& encoding);

}  // namespace torchwatch::bisect
