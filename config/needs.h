#pragma once

#include "config/options.h"

/// The builds that the configured suites need. A suite that no fleet runs needs none. Pure.
namespace torchwatch::config {

/// True when a suite imports `torch`, so that published wheels need the packages of their
/// Requires-Dist.
bool needs_python(Options const& options);

/// True when a suite measures with torchwatch's C++ worker, which is compiled against each build.
/// Suites with a command or a worker of their own do not.
bool needs_compiled_worker(Options const& options);

}  // namespace torchwatch::config
