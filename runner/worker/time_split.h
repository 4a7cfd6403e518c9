#pragma once

#include <vector>

namespace torchwatch::worker {

/// Something a GPU did, in milliseconds of any one clock.
struct GpuWork {
  double begin = 0;
  double end = 0;
  bool moves_data = false;  ///< between host and device
};

/// Where the time of a stretch of execution went, as shares of it that sum up to 1 (TorchBench
/// paper, figures 1 and 2).
struct TimeSplit {
  double active = 0;         ///< the GPU computes
  double data_movement = 0;  ///< it does not, and data moves between it and the host
  double idle = 0;           ///< neither
};

/// `work` may overlap, as streams do: what computes hides what moves. All of it lies within
/// `wall_ms`, which is more than 0.
TimeSplit split_time(std::vector<GpuWork> work, double wall_ms);

}  // namespace torchwatch::worker
