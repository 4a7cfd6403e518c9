#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <c10/core/Device.h>

/// What PyTorch's own profiler tells of a stretch of execution.
namespace torchwatch::worker {

/// Something a device did: a kernel, or the movement of data.
struct DeviceEvent {
  std::string name;  ///< "Memcpy HtoD (Pageable -> Device)", or a kernel's
  double begin = 0;
  double end = 0;
  std::uint64_t launched_by = 0;  ///< the id of an operator; 0: nobody that was watched
};

/// A call of an operator on the host.
struct OperatorCall {
  std::string name;  ///< "aten::add"; of autograd's nodes theirs
  std::uint64_t id = 0;
};

/// A stretch of execution, in milliseconds since the first thing that was noted. Events may
/// overlap, as streams do, lie across its ends or outside, and be lost.
struct Trace {
  double begin = 0;
  double end = 0;
  std::vector<DeviceEvent> events;
  std::vector<OperatorCall> operators;
};

/// Runs `before` and then `steps` in one session of the profiler, whose start is slow and may lose
/// the first kernels, and tells what devices of that type did; with `with_operators` also who had
/// it done. Without Kineto there are no events, and the stretch is empty.
Trace trace_device(c10::DeviceType type,
                   std::function<void()> const& before,
                   std::function<void()> const& steps,
                   bool with_operators);

/// Floating point operations of `steps` on any device, as PyTorch counts them: matrix products,
/// forward convolutions, sums and products of elements. Backward convolutions are not counted.
double count_flops(std::function<void()> const& steps);

}  // namespace torchwatch::worker
