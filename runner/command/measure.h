#pragma once

#include <functional>

#include "runner/command/log.h"
#include "runner/protocol.h"

namespace torchwatch::command {

/// The runner's side of a job.
struct Runner {
  std::function<void()> wait_for_turn;              ///< returns when the job has its turn
  std::function<void(int done, int total)> report;  ///< sends the progress
};

/// Measures the job with its command, and returns the outcome or the failure. The command's output
/// other than runs goes to `log`.
///
/// A command that cannot wait is started in a turn, with an empty input, and runs to its end in
/// that turn. It is started again in the next one, until there are `measure.runs` samples of each
/// metric. A command that waits (`Job.waits`) is started in the first turn, and gets a line "run"
/// in each. When a turn is over, no process of a command that cannot wait is left. When the
/// function returns, no process of any command is left.
///
/// Code of a failure: "unsupported" when the command exits with 125, else "failed". The process
/// must ignore SIGPIPE and have called process::adopt_orphans().
protocol::Message measure(protocol::Job const& job, Runner const& runner, Log& log);

}  // namespace torchwatch::command
