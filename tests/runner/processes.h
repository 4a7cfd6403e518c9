#pragma once

#include <vector>

#include <sys/types.h>

namespace torchwatch::tests {

/// Waits a few seconds for the process to end; a zombie has ended. False when it still runs.
bool has_ended(pid_t pid);

/// Waits a few seconds until `parent` has children, and returns them.
std::vector<pid_t> children_of(pid_t parent);

}  // namespace torchwatch::tests
