#pragma once

#include <functional>

#include "runner/worker/time_split.h"

/// What PyTorch's own profiler tells of a stretch of execution. It slows down what it watches.
namespace torchwatch::worker {

/// Runs `steps`, which end when the GPU is done, and splits their time. Without a GPU, or where
/// PyTorch was built without Kineto, all of it is idle.
TimeSplit trace_gpu(std::function<void()> const& steps);

/// Floating point operations of `steps` on any device, as PyTorch counts them: matrix products,
/// forward convolutions, sums and products of elements. Backward convolutions are not counted.
double count_flops(std::function<void()> const& steps);

}  // namespace torchwatch::worker
