#pragma once

/// All differences between versions of LibTorch, from 1.13 on, that the suite must handle.

#include <ATen/autocast_mode.h>
#include <torch/version.h>

#define TORCHWATCH_TORCH_IS_SINCE(major, minor) \
  (TORCH_VERSION_MAJOR > (major) ||             \
   (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))

/// True when LibTorch can run packages of AOTInductor, from 2.6 on. In earlier versions `run` took
/// its inputs by a reference that was not const.
#if __has_include(<torch/csrc/inductor/aoti_package/model_package_loader.h>)
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#define TORCHWATCH_AOTI 1
#else
#define TORCHWATCH_AOTI 0
#endif

namespace torchwatch::suite {

/// The switch for automatic mixed precision. Before 2.4, CPUs and GPUs had separate switches.
inline bool is_autocast_enabled(c10::DeviceType device) {
#if TORCHWATCH_TORCH_IS_SINCE(2, 4)
  return at::autocast::is_autocast_enabled(device);
#else
  return device == c10::DeviceType::CUDA ? at::autocast::is_enabled()
                                         : at::autocast::is_cpu_enabled();
#endif
}

inline void set_autocast_enabled(c10::DeviceType device, bool enabled) {
#if TORCHWATCH_TORCH_IS_SINCE(2, 4)
  at::autocast::set_autocast_enabled(device, enabled);
#else
  device == c10::DeviceType::CUDA ? at::autocast::set_enabled(enabled)
                                  : at::autocast::set_cpu_enabled(enabled);
#endif
}

}  // namespace torchwatch::suite
