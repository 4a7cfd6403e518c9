#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>
#include <torch/torch.h>

#include "runner/worker/trace.h"

/// The interface through which measurements use devices. `gpu.cpp` implements it for CUDA and is
/// the only file that calls CUDA's functions. Tests implement it with a script.
namespace torchwatch::worker {

/// A device's memory, in bytes. Values that are unavailable are empty.
struct DeviceMemory {
  std::int64_t allocated = 0;                    ///< allocator blocks of tensors, now
  std::int64_t allocated_peak = 0;               ///< allocator blocks of tensors, peak
  std::int64_t reserved_peak = 0;                ///< memory that the allocator reserved, peak
  std::optional<std::int64_t> requested{};       ///< requested sizes of tensors, now
  std::optional<std::int64_t> requested_peak{};  ///< requested sizes of tensors, peak
  std::optional<std::int64_t> device_used{};     ///< used by all processes on the device, now
};

/// The contents of a trace. Tracing slows down execution, most of all for operators.
enum class Traced {
  device_work,  ///< the work of the device
  operators,    ///< the work of the device, and the operators that launched it
};

/// A device for measurements. All functions can throw errors of LibTorch, because errors on a
/// device are reported late. Single-threaded.
class Device {
 public:
  Device() = default;
  Device(Device const&) = delete;
  Device& operator=(Device const&) = delete;
  virtual ~Device() = default;

  /// Returns the device on which LibTorch creates tensors.
  virtual torch::Device place() const = 0;

  /// True when the device works asynchronously, with its own memory.
  virtual bool is_apart() const = 0;

  /// Waits until all work on it is done.
  virtual void synchronize() = 0;

  /// Frees cached memory of the allocator, so that earlier work does not count as reserved.
  virtual void release_cache() = 0;

  /// Sets the peaks to the current values. The device must have been used.
  virtual void reset_peaks() = 0;

  /// Returns the current and peak memory. The device must have been used.
  virtual DeviceMemory memory() = 0;

  /// Runs `before` and then `steps`, and returns the trace of `steps`. Both functions must wait
  /// until the device has finished.
  virtual Trace trace(std::function<void()> const& before,
                      std::function<void()> const& steps,
                      Traced what) = 0;

  /// Returns an object for the fingerprint. Leaves out unavailable values instead of throwing.
  virtual nlohmann::json describe() noexcept = 0;
};

/// Returns the CPU as a device. It works synchronously and reports no memory.
std::unique_ptr<Device> host_device();

/// The devices on which a worker can measure.
struct Devices {
  std::map<std::string, std::unique_ptr<Device>> by_name;  ///< "cpu", and "cuda" with a GPU
  std::string why_no_gpu;    ///< the reason why there is no GPU; empty when there is one
  bool wants_a_gpu = false;  ///< LibTorch is built for CUDA, so a missing GPU is a `device` failure
};

}  // namespace torchwatch::worker
