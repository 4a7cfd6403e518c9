#pragma once

#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "daemon/suite_try/reply.h"
#include "runner/process/process_tree.h"
#include "runner/protocol.h"
#include "runner/round.h"
#include "storage/base/result.h"

namespace torchwatch::suite_try {

/// Returns the end of the job that `heard` is; nothing for progress.
std::optional<Reply> reply_in(Heard heard);

/// One worker process, and the messages that are exchanged with it. Unlike the runner, it accepts
/// other lines on standard output, and keeps them. Enforces the job's memory limit. Use it on one
/// thread. The destructor kills the worker.
class Conversation {
 public:
  /// Starts the worker of `job`. Errors as in ChildProcess::start.
  static Result<Conversation> start(boost::asio::any_io_executor const& executor,
                                    protocol::Job const& job,
                                    runner::WorkerEnvironment const& surroundings);

  /// The job as the worker must get it.
  protocol::Job const& job() const { return worker_.job; }

  /// Returns the next message, or what came instead within `seconds`.
  boost::asio::awaitable<Heard> hear(double seconds);

  /// Sends a line. A failure shows in the next hear().
  boost::asio::awaitable<void> send_line(std::string line);

  void end_input() { worker_.process.close_stdin(); }

  /// Waits until the worker has ended. Returns the seconds that it took, or nothing if it runs
  /// longer than the runner allows.
  boost::asio::awaitable<std::optional<double>> time_to_end();

  /// Kills the worker as the runner does.
  void kill() { worker_.process.kill_group(); }

  /// The lines on standard output that were not messages, and why.
  std::vector<std::string> const& noise() const { return noise_; }

 private:
  Conversation(runner::LoneWorker worker, bool is_sandboxed);

  std::optional<Heard> take(std::string const& line);
  boost::asio::awaitable<Heard> autopsy();
  boost::asio::awaitable<void> exceed_memory();

  runner::LoneWorker worker_;
  bool is_sandboxed_;
  process::ProcessTree tree_;
  std::vector<std::string> noise_;
};

}  // namespace torchwatch::suite_try
