#pragma once

#include <string>
#include <string_view>

#include "storage/domain/result.h"

namespace torchwatch::github {

/// An absolute https URL in the pieces a connection needs.
struct Url {
  std::string host;  ///< lower case, without the brackets of an IPv6 address
  std::string port = "443";
  std::string target = "/";  ///< path and query
};

/// Fails with invalid_argument for anything but "https://HOST[:PORT][/PATH][?QUERY]": other
/// schemes, user names, blanks and control characters are refused. A fragment is dropped.
Result<Url> parse_url(std::string_view text);

/// Whether what may be told to one of the two may be told to the other.
bool same_origin(Url const& one, Url const& other);

/// `text` as one component of a path or a query: everything but letters, digits and "-._~" as %XX.
std::string percent_encode(std::string_view text);

}  // namespace torchwatch::github
