#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "storage/base/result.h"

namespace torchwatch::runner {

/// The identity of a GPU. Values that it does not report are empty.
struct GpuIdentity {
  std::string uuid;                      ///< "GPU-8932f937-...", or "MIG-..." for an instance
  std::optional<bool> is_partitioned{};  ///< true: split into MIG instances
  std::optional<int> power_limit_w{};    ///< the enforced limit
};

/// The current state of a GPU. Values that it does not report are empty.
struct GpuState {
  std::optional<int> sm_mhz{};
  std::optional<int> memory_mhz{};
  std::optional<int> temperature_c{};
  std::optional<std::uint64_t> throttling{};  ///< reasons for low clocks: bits of `Throttle`
  std::optional<std::uint64_t> uncorrected_errors{};  ///< memory errors (ECC) since its last reset
};

/// Reasons for low clocks (nvml.h, "nvmlClocksThrottleReasons"). `any` combines those that do not
/// depend on the workload. It excludes power caps, because any busy workload may reach the limit.
struct Throttle {
  static constexpr std::uint64_t idle = 0x1;
  static constexpr std::uint64_t power_cap = 0x4;
  static constexpr std::uint64_t hardware = 0x8;
  static constexpr std::uint64_t software_heat = 0x20;
  static constexpr std::uint64_t hardware_heat = 0x40;
  static constexpr std::uint64_t power_brake = 0x80;
  static constexpr std::uint64_t any = hardware | software_heat | hardware_heat | power_brake;
};

/// NVIDIA's management library. It comes with the driver and is loaded at run time. Uses the
/// functions of version 11 and later. Not thread-safe.
class Nvml {
 public:
  /// Loads the library. Fails with `unavailable` and the error text of the loader or the library.
  static Result<Nvml> load(std::string const& library = "libnvidia-ml.so.1");

  Nvml(Nvml const&) = delete;
  Nvml& operator=(Nvml const&) = delete;
  Nvml(Nvml&&) noexcept;
  Nvml& operator=(Nvml&&) noexcept;
  ~Nvml();

  /// Both read one GPU. `gpu`, as in CUDA_VISIBLE_DEVICES: an index in PCI bus order, or a UUID or
  /// the beginning of one; empty: the first GPU. Both fail with `not_found` when no such GPU
  /// exists, and with `unavailable` and the library's error text when it is lost.
  Result<GpuIdentity> identity_of(std::string const& gpu) const;
  Result<GpuState> state_of(std::string const& gpu) const;

  /// Returns the UUIDs of the devices that workers can use: the GPUs, or, for a partitioned GPU,
  /// its MIG instances. Fails with `unavailable`.
  Result<std::vector<std::string>> gpus() const;

  /// Returns the CPUs nearest to the GPU: those of its NUMA node. Empty when the library does not
  /// report them.
  std::vector<int> processors_near(std::string const& gpu) const;

  /// Returns the GPU memory of each process that computes on the GPU, in bytes: contexts, modules
  /// and all allocations. Processes of other containers are missing. Empty when the library does
  /// not report them.
  std::map<pid_t, std::int64_t> memory_by_process(std::string const& gpu) const;

 private:
  struct Library;
  explicit Nvml(std::unique_ptr<Library> library);

  std::unique_ptr<Library> library_;
};

}  // namespace torchwatch::runner
