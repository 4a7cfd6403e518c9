#pragma once

#include <cstdint>
#include <string>

#include <sys/types.h>

namespace torchwatch::process {

/// What processes hold of their host. Pages they share count once each, so it is at least what they
/// take.
struct Holding {
  std::int64_t resident_bytes = 0;
  int processes = 0;
};

/// All processes that a child has started and not yet ended: those in its sandbox, whatever group
/// or session they gave themselves, or, without one, those in its group.
class ProcessTree {
 public:
  /// Counted no further, so that a look is short whatever a child starts.
  static constexpr int most_counted = 4096;

  /// `leader`: a child that was started with `sandboxed`, when `is_sandboxed`, or any.
  ProcessTree(pid_t leader, bool is_sandboxed) : leader_{leader}, is_sandboxed_{is_sandboxed} {}

  /// As /proc tells it. Cheap: tens of microseconds on a quiet host. Zeros when there are none, or
  /// when the sandbox is not ready.
  Holding look();

  /// Whether this process of the host's is one of them.
  bool has(pid_t pid) const;

 private:
  bool find_sandbox();

  pid_t leader_;
  bool is_sandboxed_;
  std::string sandbox_;  ///< /proc as it is in there
};

/// Kills all children of this process, and those of theirs that become its own by that: what jobs
/// left behind. Only for a process that has adopt_orphans() behind it and no children that it
/// needs.
void kill_all_children();

/// From now on, whoever descends from this process and loses its parent becomes its child.
void adopt_orphans();

}  // namespace torchwatch::process
