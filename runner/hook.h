#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "storage/base/result.h"

namespace torchwatch::runner {

/// Runs a command of whoever owns the host, with these variables beside ours, and waits for its
/// end: `patience` at most, then it is killed. Fails with unavailable when it does not end with 0,
/// in its last words, and, marked by Error::is_of_host, when the host has no process, descriptor or
/// memory left to start it. Nothing is run for an empty one. Blocks.
Result<> run_hook(std::vector<std::string> const& command,
                  std::map<std::string, std::string> const& variables,
                  std::chrono::milliseconds patience = std::chrono::seconds{10});

}  // namespace torchwatch::runner
