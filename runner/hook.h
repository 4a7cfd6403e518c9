#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "storage/base/result.h"

namespace torchwatch::runner {

/// Runs a command of the host's owner, with `variables` added to those of this process, and waits
/// until it ends. Kills it after `patience`. Fails with `unavailable` and its last output when it
/// does not end with 0. Fails with Error::is_of_host when the host has no process, descriptor or
/// memory left to start it. Does nothing for an empty command. Blocks.
Result<> run_hook(std::vector<std::string> const& command,
                  std::map<std::string, std::string> const& variables,
                  std::chrono::milliseconds patience = std::chrono::seconds{10});

}  // namespace torchwatch::runner
