#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "runner/nvml.h"
#include "runner/protocol.h"

namespace torchwatch::runner {

/// What a GPU was like while a round was measured on it. Without NVML nobody knows.
class GpuWatch {
 public:
  /// `nvml` may be null. `gpu`: as Nvml takes it.
  GpuWatch(std::shared_ptr<Nvml const> nvml, std::string gpu)
      : nvml_{std::move(nvml)},
        gpu_{std::move(gpu)} {}

  /// Looks, but not twice within a second: drivers answer slowly.
  void look_again();

  /// Looks now: before the first worker and after the last.
  void look();

  /// Beside a result: "gpu_sm_mhz" and "gpu_memory_mhz" (the lowest while it worked),
  /// "gpu_temperature_c" (the highest), and in the fingerprint "gpu_uuid", "gpu_mig",
  /// "gpu_power_limit_w". A result of a GPU that was throttled, lost, had errors of its memory
  /// meanwhile, or whose clock changed by more than a tenth though its power did not ask for it,
  /// measured that: a `device` failure takes its place.
  void note(protocol::Message& answer) const;

 private:
  using Clock = std::chrono::steady_clock;

  void take(GpuState const& state);
  std::string trouble() const;

  std::shared_ptr<Nvml const> nvml_;
  std::string gpu_;
  Clock::time_point looked_at_{};
  GpuState seen_;  // the worst of each; clocks of two looks in a row, so that none is on its way
  std::optional<int> highest_sm_mhz_;
  GpuState last_;
  std::optional<std::uint64_t> first_errors_;
  std::string lost_;  // why it could not be looked at, though it could be before
  bool was_seen_ = false;
};

}  // namespace torchwatch::runner
