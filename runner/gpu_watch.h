#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "runner/nvml.h"
#include "runner/protocol.h"

namespace torchwatch::runner {

/// Observes the state of a GPU during a round. Observes nothing without NVML.
class GpuWatch {
 public:
  /// `nvml` may be null. `gpu`: as in Nvml.
  GpuWatch(std::shared_ptr<Nvml const> nvml, std::string gpu)
      : nvml_{std::move(nvml)},
        gpu_{std::move(gpu)} {}

  /// Reads the state, at most once a second, because drivers are slow to reply.
  void look_again();

  /// Reads the state now. Call it before the first worker and after the last.
  void look();

  /// Adds to a result the accounts "gpu_sm_mhz" and "gpu_memory_mhz" (the lowest under load) and
  /// "gpu_temperature_c" (the highest). Adds "gpu_uuid", "gpu_mig" and "gpu_power_limit_w" to its
  /// fingerprint. Replaces the result by a `device` failure when the GPU was throttled or lost, had
  /// uncorrected memory errors, or its clock changed by more than 10% without a power cap.
  void note(protocol::Message& answer) const;

 private:
  using Clock = std::chrono::steady_clock;

  void take(GpuState const& state);
  std::string trouble() const;

  std::shared_ptr<Nvml const> nvml_;
  std::string gpu_;
  Clock::time_point looked_at_{};
  // The worst of each. A clock counts only when two looks in a row found it, not during a change.
  GpuState seen_;
  std::optional<int> highest_sm_mhz_;
  GpuState last_;
  std::optional<std::uint64_t> first_errors_;
  std::string lost_;  // the error when the GPU became unreadable
  bool was_seen_ = false;
};

}  // namespace torchwatch::runner
