#pragma once

#include <string>
#include <vector>

#include "config/options.h"

namespace torchwatch::config {

/// Returns the absolute paths that sandboxes hide from recipes and workers: the state directory,
/// tokens and keys.
std::vector<std::string> private_paths(Options const& options);

}  // namespace torchwatch::config
