#pragma once

#include <string>

namespace torchwatch::bisect {

/// `text` in UTF-8. `encoding` is the character set that the commit's header of that name gives:
/// "ISO-8859-1". The text stays as it is where that is empty, where the C library does not know it,
/// and where the text is not written in it.
std::string utf8_of(std::string text, std::string const& encoding);

}  // namespace torchwatch::bisect
