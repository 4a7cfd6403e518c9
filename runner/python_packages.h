#pragma once

#include <string>

namespace torchwatch::runner {

/// Returns the directory that holds the package torch of the build at `prefix`: the prefix itself,
/// or the directory around it when the prefix is that package, as in an unpacked wheel. Empty when
/// the build has no Python package, and for the system's PyTorch, whose prefix is empty.
std::string python_packages_of(std::string const& prefix);

}  // namespace torchwatch::runner
