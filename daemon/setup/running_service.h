#pragma once

#include <string>

#include "config/options.h"

namespace torchwatch::setup {

/// The torchwatch that answers where one with this configuration would: "torchwatch 0.1.0 at
/// http://127.0.0.1:8917", and why it is not well when it is not; empty when none does. Blocks for
/// at most two seconds.
std::string running_service(config::HttpOptions const& http);

}  // namespace torchwatch::setup
