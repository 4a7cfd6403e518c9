#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace torchwatch::builds {

/// Where the SHA-256 of an archive lies by custom: ARCHIVE.sha256, before the URL's query.
std::string digest_beside(std::string const& url);

/// The digest in a file that holds one: what `sha256sum ARCHIVE` prints, or the hexadecimal digits
/// alone. In lower case; nothing when it is anything else.
std::optional<std::string> sha256_in(std::string_view text);

}  // namespace torchwatch::builds
