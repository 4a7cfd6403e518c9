#pragma once

#include <set>
#include <string>

#include <c10/core/Device.h>

/// A pretended device "xpu:0" for LibTorch 1.13. It uses the host's memory and the CPU's kernels,
/// but its tensors are not the host's. So code that mixes devices is found without a GPU. Quantized
/// tensors stay on the host.
namespace torchwatch::pretend {

c10::Device device();

/// Observations of operators since `watch()`.
struct Seen {
  /// Operators that got tensors of both device and host, which CUDA would refuse, such as "aten::mm
  /// with mat2[4, 2] of the host". Tensors without dimensions may be of either.
  std::set<std::string> mixed;
  /// Number of times that the host had to wait for the device, to copy, read or count its values.
  int synchronisations = 0;
};

/// Resets the observations.
void watch();

Seen const& seen();

}  // namespace torchwatch::pretend
