#pragma once

#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <unistd.h>

#include "runner/device_locks.h"

namespace torchwatch::runner {

/// The options of a runner process.
struct RunnerOptions {
  int slot = 0;                          ///< number of its slot among all of its host
  int slots = 1;                         ///< number of slots of its host
  std::string gpu;                       ///< the GPU to measure on; empty: the first visible one
  bool is_isolated = true;               ///< run workers in sandboxes
  bool has_network = false;              ///< give the sandboxes a network
  std::vector<std::string> environment;  ///< more variables for workers: process::is_named
  std::vector<std::string> readable;  ///< paths that workers may read, in addition to their builds
  std::vector<std::string> hidden;    ///< paths that workers may not read, as in process::Sandbox
  bool beside_others = false;         ///< as in Claim
  /// Commands to run before and after each round, while its devices are locked: for example, to
  /// lock and unlock clocks. They get the same CUDA_VISIBLE_DEVICES as workers.
  std::vector<std::string> before_round;
  std::vector<std::string> after_round;
  /// Directory of the lock files, the same for all runners of a host.
  std::string locks = DeviceLocks::default_directory();
};

/// The main function of the runner process of a fleet's slot. Sends a hello, then measures the jobs
/// and rounds on `input` one at a time, in order. At the end of input, or on SIGINT, SIGTERM or
/// SIGHUP, it kills the worker and returns at once. Any other line is answered with an `error`
/// without id.
///
/// Returns an exit status: 0; or 1 when the reader of the answers is gone, or when this host cannot
/// isolate workers, with the reason on standard error. Duplicates both descriptors, which are
/// non-blocking until it returns. The process must have no other children: it kills all its
/// children after each round.
boost::asio::awaitable<int> run_runner(RunnerOptions options,
                                       int input = STDIN_FILENO,
                                       int output = STDOUT_FILENO);

}  // namespace torchwatch::runner
