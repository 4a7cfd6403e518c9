#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace torchwatch::tests {

/// Waits a few seconds for the process to end; a zombie has ended. False when it still runs.
bool has_ended(pid_t pid);

/// Waits a few seconds until `parent` has children, and returns them.
std::vector<pid_t> children_of(pid_t parent);

/// Waits a few seconds until no child of `parent` runs, likewise.
bool have_children_ended(pid_t parent);

/// How sandboxes name this process as their starter.
std::string our_identity();

/// Arguments of what looks like a sandbox that `starter` started, says one line, and lives on.
std::vector<std::string> pretended_sandbox(std::string const& starter);

}  // namespace torchwatch::tests
