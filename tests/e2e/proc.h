#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace torchwatch::e2e {

/// A running process, as /proc shows it.
struct SeenProcess {
  pid_t pid = 0;
  pid_t parent = 0;
  std::vector<std::string> argv;
};

/// Returns every running process with `mark` in its command line or environment, or with a sandbox
/// that mounts a path with `mark`. Zombies do not count.
std::vector<SeenProcess> processes_with(std::string const& mark);

/// Returns the user and system time of a process since its start. Throws when it does not exist.
double cpu_seconds(pid_t pid);

/// Returns the resident memory of a process. Throws when it does not exist.
double resident_mib(pid_t pid);

}  // namespace torchwatch::e2e
