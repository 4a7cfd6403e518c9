#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace torchwatch::e2e {

/// A living process as /proc shows it.
struct SeenProcess {
  pid_t pid = 0;
  pid_t parent = 0;
  std::vector<std::string> argv;
};

/// Every living process that holds `mark` in its command line or environment. What has ended and is
/// only not reaped yet does not count.
std::vector<SeenProcess> processes_with(std::string const& mark);

/// User and system time since its start; resident memory. Throw when there is no such process.
double cpu_seconds(pid_t pid);
double resident_mib(pid_t pid);

}  // namespace torchwatch::e2e
