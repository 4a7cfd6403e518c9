#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "runner/device_locks.h"
#include "runner/nvml.h"
#include "runner/process/sandbox.h"
#include "runner/processors.h"
#include "runner/protocol.h"
#include "runner/supervision.h"

namespace torchwatch::runner {

/// The CPUs, sandbox, network and GPU of a round's workers.
struct WorkerEnvironment {
  Processors processors = Processors::of_slot(0);           ///< of their slot
  process::Isolation isolation = process::Isolation::none;  ///< from the rest of their host
  bool has_network = false;
  std::vector<std::string> readable;     ///< beside their build, system programs and libraries
  std::vector<std::string> environment;  ///< variables beside the usual ones: process::is_named
  std::vector<std::string> hidden;       ///< what they may not, wherever it lies
  std::string gpu;  ///< the one that workers see, as CUDA_VISIBLE_DEVICES has it; empty: any
  std::shared_ptr<Nvml const> nvml{};  ///< looks at it; none where the host has none
  bool beside_others = false;          ///< as Claim has it
};

/// What tells CUDA which GPU the workers see; none: whatever it finds.
std::map<std::string, std::string> gpu_variables(WorkerEnvironment const& surroundings);

/// The locks that the round needs on its host.
Claim claim_of(protocol::Round const& round, WorkerEnvironment const& surroundings);

/// Measures each job in a worker process of its own and holds it to the job's limits. With more
/// than one, the workers take turns as the round's seed has it, or run one by one; one that fails
/// leaves the others alone. The answers, in the order of the jobs, are the workers' `result` or
/// `error`, or an `error` about the worker: `launch`, `crashed`, `timeout`, `memory` or `protocol`,
/// or `host` where the host could start no worker at all. Error texts name the benchmark, the
/// prefix and what happened. When this ends, also by cancellation, the workers are dead with all
/// that is in their sandboxes, or, without isolation, in their process groups. On a CPU they all
/// run on the same few processors, which are theirs unless the jobs say otherwise. On a GPU what it
/// was like meanwhile stands beside the results (gpu_watch.h). Runs on the
/// coroutine's executor; its thread must live as long as the workers.
boost::asio::awaitable<std::vector<protocol::Message>> run_round(protocol::Round round,
                                                                 WorkerEnvironment surroundings,
                                                                 ProgressSink on_progress);

}  // namespace torchwatch::runner
