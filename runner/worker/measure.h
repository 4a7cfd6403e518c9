#pragma once

#include <functional>
#include <string>

#include "runner/protocol.h"
#include "runner/worker/device.h"

namespace torchwatch::worker {

/// Hears how far a job is: "build", "warmup", "latency", "memory", "leak", "profile".
using Listener = std::function<void(std::string const& phase, int done, int total)>;

/// Returns when it is this worker's turn.
using Semaphore = std::function<void()>;

/// Measures one benchmark: latency in one pass, memory in a second one on a fresh workload, so that
/// counting never disturbs timing, and what operators cost in a third one, when asked for. CPU:
/// latency, cmem, and leak, of the host's memory. CUDA: latency, cmem, gmem, and leak, of the
/// device's. Passes the semaphore before building, before every timed run and after the last.
/// Throws Unsupported, and what LibTorch and the semaphore throw.
protocol::Outcome measure(protocol::Job const& job,
                          Devices const& devices,
                          Listener const& listener,
                          Semaphore const& semaphore);

}  // namespace torchwatch::worker
