#pragma once

#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace torchwatch::suite_try {

/// The running processes whose environment has a certain variable, in any sandbox, process group or
/// session. A process that was started with another environment is not among them.
class MarkedProcesses {
 public:
  /// `variable`: "NAME=value". The value must be unique on this host.
  explicit MarkedProcesses(std::string variable) : variable_{std::move(variable)} {}

  /// Returns their numbers. Processes that have ended but are not reaped do not count.
  std::vector<pid_t> find() const;

  /// Returns their CPU time in seconds since they started, with that of their children that ended.
  double cpu_seconds() const;

  /// Sends a signal to each of them.
  void signal(int number) const noexcept;

 private:
  std::string variable_;
};

}  // namespace torchwatch::suite_try
