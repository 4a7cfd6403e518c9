#pragma once

#include <optional>
#include <vector>

#include "runner/protocol.h"
#include "runner/worker/trace.h"

/// Summaries of a trace.
namespace torchwatch::worker {

/// The shares of a stretch of execution, which add up to 1 (TorchBench paper, figures 1 and 2).
struct TimeSplit {
  double active = 0;         ///< the GPU computes
  double data_movement = 0;  ///< the GPU does not compute, and data moves between it and the host
  double idle = 0;           ///< neither
};

/// Returns the shares of the stretch. Data movement during computation counts as `active`. Nothing
/// when no event is in the stretch: then the profiler recorded no events of the GPU.
std::optional<TimeSplit> split_time(Trace const& trace);

/// Returns the device work that each operator launched, per iteration, sorted by name. `ms` is the
/// device's time, because the host does not wait for the work. `bytes` is 0: it is unknown.
/// Operators that launched nothing are missing. Work of unknown origin is "(unknown)". Empty when
/// no event is in the stretch.
std::vector<protocol::OperatorCost> device_costs(Trace const& trace, int iterations);

}  // namespace torchwatch::worker
