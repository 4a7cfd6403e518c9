#pragma once

#include <set>
#include <string>

#include <c10/core/Device.h>

/// A device that LibTorch 1.13 believes in: "xpu:0". Its memory is the host's and its kernels are
/// the CPU's, but its tensors are none of the host's, so that whoever mixes devices is found out
/// without having one. Quantized tensors stay on the host.
namespace torchwatch::pretend {

c10::Device device();

/// What was seen of operators.
struct Seen {
  /// Given tensors of the device and of the host together, where CUDA would refuse: "aten::mm with
  /// mat2[4, 2] of the host". Numbers, tensors without dimensions, may be of either.
  std::set<std::string> mixed;
  /// So often the host had to wait for the device: what it copied from there, looked at, or
  /// counted.
  int synchronisations = 0;
};

/// Forgets what was seen.
void watch();

Seen const& seen();

}  // namespace torchwatch::pretend
