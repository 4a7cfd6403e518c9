#pragma once

#include <optional>
#include <vector>

#include "runner/protocol.h"
#include "runner/worker/trace.h"

/// What a trace comes to.
namespace torchwatch::worker {

/// Where the time of a stretch of execution went, as shares of it that sum up to 1 (TorchBench
/// paper, figures 1 and 2).
struct TimeSplit {
  double active = 0;         ///< the GPU computes
  double data_movement = 0;  ///< it does not, and data moves between it and the host
  double idle = 0;           ///< neither
};

/// What computes hides what moves. Nothing when no event lies in the stretch: a GPU that was used
/// and did nothing was not watched.
std::optional<TimeSplit> split_time(Trace const& trace);

/// What operators had the device do, an iteration, by name: its time and not the host's, which
/// launches work and does not wait for it. Bytes are not known. An operator that launched nothing
/// costs nothing; what nobody launched is "(unknown)". Empty when no event lies in the stretch.
std::vector<protocol::OperatorCost> device_costs(Trace const& trace, int iterations);

}  // namespace torchwatch::worker
