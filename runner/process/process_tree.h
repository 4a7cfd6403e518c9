#pragma once

#include <cstdint>
#include <string>

#include <sys/types.h>

namespace torchwatch::process {

/// The resident memory and number of processes. A shared page counts once per process, so the sum
/// is an upper bound.
struct Holding {
  std::int64_t resident_bytes = 0;
  int processes = 0;
};

/// The running processes of a child: those in its sandbox, in any group or session, or, without a
/// sandbox, those in its process group.
class ProcessTree {
 public:
  /// The count stops here, so that look() is short however many processes a child starts.
  static constexpr int most_counted = 4096;

  /// `leader`: a child. With `is_sandboxed`, it was started with `sandboxed`.
  ProcessTree(pid_t leader, bool is_sandboxed) : leader_{leader}, is_sandboxed_{is_sandboxed} {}

  /// Reads the memory and number of processes from /proc, in tens of microseconds on a quiet host.
  /// Zeros when no process is left, or while the sandbox is not ready.
  Holding look();

  /// True when `pid`, a number in the host's namespace, is one of these processes.
  bool has(pid_t pid) const;

 private:
  bool find_sandbox();

  pid_t leader_;
  bool is_sandboxed_;
  std::string sandbox_;  ///< path of the sandbox's own /proc; empty until it is ready
};

/// Kills all children of this process, and their descendants, which become its children then.
/// Removes what jobs left behind. Only for a process that has called adopt_orphans() and needs none
/// of its children.
void kill_all_children();

/// Makes this process the parent of each descendant that loses its parent from now on.
void adopt_orphans();

}  // namespace torchwatch::process
