#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace torchwatch::tests {

/// True when the process ends within a few seconds. A zombie has ended.
bool has_ended(pid_t pid);

/// Waits a few seconds until `parent` has children, and returns them.
std::vector<pid_t> children_of(pid_t parent);

/// True when all children of `parent` end within a few seconds.
bool have_children_ended(pid_t parent);

/// Returns the identity of this process as the starter of sandboxes.
std::string our_identity();

/// Returns the command of a process that looks like a sandbox of `starter`. It prints one line and
/// stays.
std::vector<std::string> pretended_sandbox(std::string const& starter);

}  // namespace torchwatch::tests
