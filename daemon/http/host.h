#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torchwatch::http {

/// True if `host`, a Host field, names this server: an IP address, localhost, this machine's name,
/// or one of `names` (lower case), with any port. Other names are rejected: an attacker can let a
/// name lead here, so that a page of that name can read the responses (DNS rebinding).
bool is_host_ours(std::string_view host, std::vector<std::string> const& names);

}  // namespace torchwatch::http
