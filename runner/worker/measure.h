#pragma once

#include <functional>
#include <string>

#include "runner/protocol.h"
#include "runner/worker/device.h"

namespace torchwatch::worker {

/// Called with the progress of a job. Phases: "build", "warmup", "latency", "memory", "leak",
/// "profile".
using Listener = std::function<void(std::string const& phase, int done, int total)>;

/// Called to wait for this worker's turn. Returns when it has come.
using Semaphore = std::function<void()>;

/// Measures one benchmark. Latency comes first, then memory on a new workload, so that counting
/// does not disturb timing, then the costs of operators if the job requests them. On a CPU:
/// latency, cmem, and leak of the host's memory. On CUDA: latency, cmem, gmem, and leak of the
/// device's memory. Calls `semaphore` before it builds the model, before every timed run and after
/// the last. Throws Unsupported, NoDevice, and the errors of LibTorch and `semaphore`.
protocol::Outcome measure(protocol::Job const& job,
                          Devices const& devices,
                          Listener const& listener,
                          Semaphore const& semaphore);

}  // namespace torchwatch::worker
