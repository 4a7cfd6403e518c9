#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "runner/device_locks.h"
#include "runner/nvml.h"
#include "runner/process/child_process.h"
#include "runner/process/sandbox.h"
#include "runner/process/scratch_directory.h"
#include "runner/processors.h"
#include "runner/protocol.h"
#include "runner/supervision.h"
#include "storage/base/result.h"

namespace torchwatch::runner {

/// The CPUs, sandbox, network and GPU of a round's workers.
struct WorkerEnvironment {
  Processors processors = Processors::of_slot(0);
  process::Isolation isolation = process::Isolation::none;
  bool has_network = false;
  std::vector<std::string> readable;     ///< paths, in addition to their build and the system's
  std::vector<std::string> environment;  ///< more variables: process::is_named
  std::vector<std::string> hidden;       ///< paths that they may not read: process::Sandbox
  std::string gpu;                       ///< value of CUDA_VISIBLE_DEVICES; empty: not set
  std::shared_ptr<Nvml const> nvml{};    ///< reads the GPU's state; null without NVIDIA's driver
  bool beside_others = false;            ///< as in Claim
};

/// Returns the variables that select the GPU for CUDA. Empty when `surroundings` names no GPU.
std::map<std::string, std::string> gpu_variables(WorkerEnvironment const& surroundings);

/// The locks that the round needs on its host.
Claim claim_of(protocol::Round const& round, WorkerEnvironment const& surroundings);

/// A worker without a round, for a caller that talks to it. Its destructor kills it.
struct LoneWorker {
  protocol::Job job;                                   ///< the job that it must be sent
  std::optional<process::ScratchDirectory> directory;  ///< none in a sandbox
  process::ChildProcess process;
};

/// Starts the worker of a job as a round does. Sends it nothing, and enforces no limits. Errors as
/// in ChildProcess::start.
Result<LoneWorker> start_lone_worker(boost::asio::any_io_executor const& executor,
                                     protocol::Job const& job,
                                     WorkerEnvironment const& surroundings);

/// Measures each job in its own worker process and enforces the job's limits. Several workers take
/// turns in the order of the round's seed, or run one by one. A failed worker does not affect the
/// others.
///
/// First fills the compile caches that jobs need and that do not exist yet (caches.h). A job whose
/// caches cannot be filled does not run, and has the failure of the job that should have filled
/// them. A job that compiles what its filled caches should hold fails with `cache`.
///
/// Returns one answer per job, in the order of the jobs: the worker's `result` or `error`, or an
/// `error` about the worker: `launch`, `crashed`, `timeout`, `memory` or `protocol`, or `host` when
/// the host could not start any worker. Error texts contain the benchmark, the prefix and the
/// problem. On a GPU, results contain its state during the round (gpu_watch.h).
///
/// When it ends, also by cancellation, all workers are dead, with all processes in their sandboxes
/// or, without isolation, in their process groups. On CPUs, all workers of the round run on one set
/// of CPUs, unless a job has `pin` off. Runs on the coroutine's executor, whose thread must live as
/// long as the workers.
boost::asio::awaitable<std::vector<protocol::Message>> run_round(protocol::Round round,
                                                                 WorkerEnvironment surroundings,
                                                                 ProgressSink on_progress);

}  // namespace torchwatch::runner
