#pragma once

#include <string>
#include <vector>

#include "config/options.h"

namespace torchwatch::config {

/// What no program may read that somebody else made: the state, tokens and keys. Absolute.
std::vector<std::string> private_paths(Options const& options);

}  // namespace torchwatch::config
