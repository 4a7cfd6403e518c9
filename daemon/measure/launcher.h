#pragma once

#include <string_view>

/// The messages of Slurm's `srun` and `salloc` on standard error. Pure functions of that text. Exit
/// statuses are not used: `srun` returns 0 when a node fails and when it gives up on a preempted
/// step, and otherwise the status of the runner.
namespace torchwatch::measure {

/// The progress of a launcher's request for a host.
enum class LauncherStage {
  starting,   ///< it reported nothing yet; a launcher without a queue stays here
  queued,     ///< its scheduler has no free host
  allocated,  ///< it has a host after it was queued
};

/// Returns the stage that the launcher reported last.
LauncherStage launcher_stage(std::string_view errors);

/// The reason why a launcher ended, as its scheduler reported it.
enum class LauncherEnd {
  unknown,          ///< no report: the runner crashed or was killed, or the launcher is another one
  preempted,        ///< a job of higher priority got the host
  requeued,         ///< the job was put back into the queue
  node_failed,      ///< the node is down
  time_limit,       ///< the job reached its time limit
  cancelled,        ///< a user cancelled the job, or srun does not report why it was ended
  controller_lost,  ///< the scheduler's controller did not reply
  refused,          ///< the scheduler rejected the request
  out_of_memory,    ///< the job exceeded its memory
};

/// Returns the reason in the launcher's last error output.
LauncherEnd launcher_end(std::string_view errors);

/// Returns the word for logs: "node_failed".
std::string_view to_string(LauncherEnd end);

/// Returns the reason for people: "the node failed". Empty for `unknown`.
std::string_view describe(LauncherEnd end);

}  // namespace torchwatch::measure
