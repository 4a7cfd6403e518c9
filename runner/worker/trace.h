#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <c10/core/Device.h>

/// Records a stretch of execution with PyTorch's own profiler.
namespace torchwatch::worker {

/// A piece of work of a device: a kernel, or a movement of data.
struct DeviceEvent {
  std::string name;  ///< "Memcpy HtoD (Pageable -> Device)", or the name of a kernel
  double begin = 0;
  double end = 0;
  std::uint64_t launched_by = 0;  ///< the id of an OperatorCall; 0: unknown
};

/// A call of an operator on the host.
struct OperatorCall {
  std::string name;  ///< "aten::add", or the name of an autograd node
  std::uint64_t id = 0;
};

/// A stretch of execution. Times are milliseconds since the first recorded event. Events may
/// overlap like their streams, cross the ends of the stretch or be outside, and be lost.
struct Trace {
  double begin = 0;
  double end = 0;
  std::vector<DeviceEvent> events;
  std::vector<OperatorCall> operators;
};

/// Runs `before` and then `steps` in one session of the profiler, and returns the trace of `steps`
/// with the events of devices of `type`. `before` is needed because the profiler starts slowly and
/// may lose the first kernels. With `with_operators` the trace also contains the operators. Without
/// Kineto there are no events, and the stretch is empty.
Trace trace_device(c10::DeviceType type,
                   std::function<void()> const& before,
                   std::function<void()> const& steps,
                   bool with_operators);

/// Returns the floating point operations of `steps` on any device, as PyTorch counts them: matrix
/// products, forward convolutions, sums and products of elements. Backward convolutions are not
/// counted.
double count_flops(std::function<void()> const& steps);

}  // namespace torchwatch::worker
