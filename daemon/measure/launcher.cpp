#include "daemon/measure/launcher.h"

#include <algorithm>
#include <array>

namespace torchwatch::measure {

namespace {

/// Text in a message of the launcher, and the end that it reports.
struct Sign {
  std::string_view text;
  LauncherEnd end;
};

/// The signs in the order of their weight: a message may contain several, and the cause of an end
/// is reported next to its consequences.
constexpr std::array signs{
    Sign{"xceeded job memory limit", LauncherEnd::out_of_memory},
    Sign{"xceeded memory limit", LauncherEnd::out_of_memory},
    Sign{"oom_kill event", LauncherEnd::out_of_memory},
    Sign{"oom-kill event", LauncherEnd::out_of_memory},
    Sign{"Out Of Memory", LauncherEnd::out_of_memory},
    Sign{"DUE TO PREEMPTION", LauncherEnd::preempted},
    Sign{"DUE TO JOB REQUEUE", LauncherEnd::requeued},
    Sign{"DUE TO TIME LIMIT", LauncherEnd::time_limit},
    Sign{"DUE TO NODE FAILURE", LauncherEnd::node_failed},
    Sign{"Node failure on ", LauncherEnd::node_failed},
    Sign{"Unable to contact slurm controller", LauncherEnd::controller_lost},
    Sign{"Unable to confirm allocation", LauncherEnd::controller_lost},
    Sign{" CANCELLED AT ", LauncherEnd::cancelled},
    Sign{"Job has been cancelled", LauncherEnd::cancelled},
    Sign{"has been revoked", LauncherEnd::cancelled},
    Sign{"Unable to allocate resources", LauncherEnd::refused},
    Sign{"Job step aborted", LauncherEnd::cancelled},
};

/// True for a message of Slurm. The other lines are those of the runner.
bool is_of_slurm(std::string_view line) {
  return line.starts_with("srun: ") || line.starts_with("salloc: ") ||
         line.starts_with("slurmstepd");
}

bool has(std::string_view line, std::string_view text) {
  return line.find(text) != std::string_view::npos;
}

/// Calls `take` with each complete or last line that is a message of Slurm.
template <class Take>
void for_each_message(std::string_view errors, Take take) {
  while (!errors.empty()) {
    auto const line = errors.substr(0, errors.find('\n'));
    errors.remove_prefix(std::min(line.size() + 1, errors.size()));
    if (is_of_slurm(line)) take(line);
  }
}

bool is_queued(std::string_view line) {
  return has(line, "queued and waiting for resources") || has(line, "Pending job allocation");
}

bool is_allocated(std::string_view line) {
  return has(line, "has been allocated resources") || has(line, "Granted job allocation");
}

}  // namespace

LauncherStage launcher_stage(std::string_view errors) {
  auto stage = LauncherStage::starting;
  for_each_message(errors, [&](std::string_view line) {
    if (is_queued(line)) stage = LauncherStage::queued;
    if (is_allocated(line)) stage = LauncherStage::allocated;
  });
  return stage;
}

LauncherEnd launcher_end(std::string_view errors) {
  auto weightiest = signs.end();
  bool has_task_ended = false;
  for_each_message(errors, [&](std::string_view line) {
    has_task_ended = has_task_ended || has(line, ": task ");
    // With KillOnBadExit, srun aborts the rest of a step whose runner crashed.
    if (has_task_ended && has(line, "Job step aborted")) return;
    auto const found = std::find_if(
        signs.begin(), weightiest, [&](Sign const& sign) { return has(line, sign.text); });
    weightiest = std::min(weightiest, found);
  });
  return weightiest == signs.end() ? LauncherEnd::unknown : weightiest->end;
}

std::string_view to_string(LauncherEnd end) {
  switch (end) {
    case LauncherEnd::unknown:
      return "unknown";
    case LauncherEnd::preempted:
      return "preempted";
    case LauncherEnd::requeued:
      return "requeued";
    case LauncherEnd::node_failed:
      return "node_failed";
    case LauncherEnd::time_limit:
      return "time_limit";
    case LauncherEnd::cancelled:
      return "cancelled";
    case LauncherEnd::controller_lost:
      return "controller_lost";
    case LauncherEnd::refused:
      return "refused";
    case LauncherEnd::out_of_memory:
      return "out_of_memory";
  }
  return "unknown";
}

std::string_view describe(LauncherEnd end) {
  switch (end) {
    case LauncherEnd::unknown:
      return "";
    case LauncherEnd::preempted:
      return "the scheduler preempted the job";
    case LauncherEnd::requeued:
      return "the scheduler requeued the job";
    case LauncherEnd::node_failed:
      return "the node failed";
    case LauncherEnd::time_limit:
      return "the job reached its time limit";
    case LauncherEnd::cancelled:
      return "the scheduler ended the job";
    case LauncherEnd::controller_lost:
      return "the scheduler's controller did not reply";
    case LauncherEnd::refused:
      return "the scheduler refused the request";
    case LauncherEnd::out_of_memory:
      return "the job exceeded its memory";
  }
  return "";
}

}  // namespace torchwatch::measure
