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

/// Devices as measuring sees them, and all that it asks of them. `gpu.cpp` has CUDA's and is the
/// only file that names CUDA's own functions; tests have a scripted one.
namespace torchwatch::worker {

/// A device's memory, in bytes. An account that cannot be had is nothing.
struct DeviceMemory {
  std::int64_t allocated = 0;                    ///< of tensors, now
  std::int64_t allocated_peak = 0;               ///< of tensors, at their highest
  std::int64_t reserved_peak = 0;                ///< what the allocator took for them
  std::optional<std::int64_t> requested{};       ///< of tensors, now, as large as they asked for
  std::optional<std::int64_t> requested_peak{};  ///< the same, at its highest
  std::optional<std::int64_t> device_used{};     ///< of the whole device now, by all processes
};

/// What a stretch of execution is traced for. Either slows down what it watches, operators more.
enum class Traced {
  device_work,  ///< what the device did
  operators,    ///< the same, and which operators launched it
};

/// Functions throw what LibTorch throws: a device tells late what went wrong on it. One thread.
class Device {
 public:
  Device() = default;
  Device(Device const&) = delete;
  Device& operator=(Device const&) = delete;
  virtual ~Device() = default;

  /// Where LibTorch puts tensors.
  virtual torch::Device place() const = 0;

  /// Whether it works while the host goes on, in memory of its own.
  virtual bool is_apart() const = 0;

  /// Waits until all work on it is done.
  virtual void synchronize() = 0;

  /// Gives unused memory back, so that nothing is reserved that was needed before.
  virtual void release_cache() = 0;

  /// The highest values start again from the current ones. It must have been used.
  virtual void reset_peaks() = 0;

  /// It must have been used.
  virtual DeviceMemory memory() = 0;

  /// Runs `before` and then `steps`, and tells what happened during these. Both end when the device
  /// is done.
  virtual Trace trace(std::function<void()> const& before,
                      std::function<void()> const& steps,
                      Traced what) = 0;

  /// For the fingerprint; an object. Never throws: what cannot be told is not there.
  virtual nlohmann::json describe() noexcept = 0;
};

/// The host itself, which is done when a function returns, and has no account of memory here.
std::unique_ptr<Device> host_device();

/// What a worker can measure on.
struct Devices {
  std::map<std::string, std::unique_ptr<Device>> by_name;  ///< "cpu", and maybe "cuda"
  std::string why_no_gpu;    ///< in the words of who knows; empty where there is one
  bool wants_a_gpu = false;  ///< LibTorch is built for one: where there is none, it is lost
};

}  // namespace torchwatch::worker
