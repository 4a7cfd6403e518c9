#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torchwatch::http {

/// Whether a request that asks `host`, the Host field, means this server: an IP address, localhost,
/// this machine's own name, or one of `names` (lower case), with any port. Other names may be
/// somebody's who has them lead here, so that a page of theirs can read the answers (DNS
/// rebinding).
bool is_host_ours(std::string_view host, std::vector<std::string> const& names);

}  // namespace torchwatch::http
