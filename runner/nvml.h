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

/// Which GPU it is. What it does not tell is nothing.
struct GpuIdentity {
  std::string uuid;                      ///< "GPU-8932f937-...", or "MIG-..." of an instance
  std::optional<bool> is_partitioned{};  ///< into MIG instances
  std::optional<int> power_limit_w{};    ///< that is enforced
};

/// How a GPU is now. What it does not tell is nothing.
struct GpuState {
  std::optional<int> sm_mhz{};
  std::optional<int> memory_mhz{};
  std::optional<int> temperature_c{};
  std::optional<std::uint64_t> throttling{};  ///< why clocks are low now: bits of `Throttle`
  std::optional<std::uint64_t> uncorrected_errors{};  ///< of its memory (ECC), since it was reset
};

/// Reasons that have nothing to do with what runs on it (nvml.h, "nvmlClocksThrottleReasons").
/// Power caps are not among them: whatever keeps a GPU busy may reach its limit.
struct Throttle {
  static constexpr std::uint64_t idle = 0x1;
  static constexpr std::uint64_t power_cap = 0x4;
  static constexpr std::uint64_t hardware = 0x8;
  static constexpr std::uint64_t software_heat = 0x20;
  static constexpr std::uint64_t hardware_heat = 0x40;
  static constexpr std::uint64_t power_brake = 0x80;
  static constexpr std::uint64_t any = hardware | software_heat | hardware_heat | power_brake;
};

/// NVIDIA's management library, which comes with the driver and is loaded while the program runs:
/// the functions are those of its version 11 and later. Not thread-safe.
class Nvml {
 public:
  /// Fails with unavailable, in the loader's or the library's words.
  static Result<Nvml> load(std::string const& library = "libnvidia-ml.so.1");

  Nvml(Nvml const&) = delete;
  Nvml& operator=(Nvml const&) = delete;
  Nvml(Nvml&&) noexcept;
  Nvml& operator=(Nvml&&) noexcept;
  ~Nvml();

  /// `gpu`: as CUDA_VISIBLE_DEVICES has it, an index in the order of buses, or a UUID, of which a
  /// beginning will do; empty: the first. Both fail with not_found when there is no such GPU,
  /// and with unavailable, in the library's words, when it is lost.
  Result<GpuIdentity> identity_of(std::string const& gpu) const;
  Result<GpuState> state_of(std::string const& gpu) const;

  /// UUIDs of what workers may be given one each: the GPUs, and in place of one that is partitioned
  /// its MIG instances. Fails with unavailable.
  Result<std::vector<std::string>> gpus() const;

  /// The processors with the shortest way to it: those of its NUMA node. None when the library does
  /// not tell.
  std::vector<int> processors_near(std::string const& gpu) const;

  /// What processes that compute on it hold of its memory, in bytes: contexts, modules, and all
  /// that they allocated, in whatever way. Those of other containers are missing, and all of them
  /// when the library does not tell.
  std::map<pid_t, std::int64_t> memory_by_process(std::string const& gpu) const;

 private:
  struct Library;
  explicit Nvml(std::unique_ptr<Library> library);

  std::unique_ptr<Library> library_;
};

}  // namespace torchwatch::runner
