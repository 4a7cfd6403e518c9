#pragma once

#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <unistd.h>

#include "runner/device_locks.h"

namespace torchwatch::runner {

/// What a runner is told when it is started.
struct RunnerOptions {
  int slot = 0;              ///< of its fleet
  std::string gpu;           ///< the one that it measures on; empty: the first that it sees
  bool is_isolated = true;   ///< whether workers are kept in sandboxes
  bool has_network = false;  ///< whether they find a network there
  std::vector<std::string> environment;  ///< variables that they get beside the usual ones
  std::vector<std::string> readable;  ///< what they may read beside their builds and the system's
  std::vector<std::string> hidden;    ///< what they may not read, wherever it lies
  bool beside_others = false;         ///< as Claim has it
  /// Run before and after each round, while nobody else measures there: to lock and unlock clocks,
  /// say. They see CUDA_VISIBLE_DEVICES as workers do.
  std::vector<std::string> before_round;
  std::vector<std::string> after_round;
  std::string locks = DeviceLocks::default_directory();  ///< the same for all runners of a host
};

/// The body of the runner process for a fleet's slot: greets, then answers the jobs on `input`
/// one at a time and in order, until the input ends or SIGINT, SIGTERM or SIGHUP comes; then it
/// kills the worker and returns at once. A line that is no job is answered with an `error` without
/// id. Returns an exit status: 0, or 1 when nobody reads the answers any more, or when workers are
/// to be isolated and this host cannot do that, after a line on standard error that says why. Both
/// descriptors are duplicated, and non-blocking until it returns. The process must have no other
/// children: they end with each round.
boost::asio::awaitable<int> run_runner(RunnerOptions options,
                                       int input = STDIN_FILENO,
                                       int output = STDOUT_FILENO);

}  // namespace torchwatch::runner
