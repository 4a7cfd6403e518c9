#pragma once

#include <string>

#include "config/options.h"

namespace torchwatch::setup {

/// The torchwatch that answers at `http.address` and `http.port`: "torchwatch 0.1.0 at
/// http://127.0.0.1:8917"; empty when none does. Blocks for at most two seconds.
std::string running_service(config::HttpOptions const& http);

/// "http://127.0.0.1:8917"; an IPv6 address in brackets.
std::string url_of(config::HttpOptions const& http);

}  // namespace torchwatch::setup
