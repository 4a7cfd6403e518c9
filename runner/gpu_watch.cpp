#include "runner/gpu_watch.h"

#include <algorithm>
#include <variant>

namespace torchwatch::runner {
namespace {

constexpr std::chrono::seconds apart{1};

template <class Value, class Choose>
void keep(std::optional<Value>& kept, std::optional<Value> const& value, Choose const& choose) {
  if (value) kept = kept ? choose(*kept, *value) : *value;
}

/// Names the reasons in `throttling`, for people.
std::string reasons_of(std::uint64_t throttling) {
  std::string text;
  auto const add = [&](std::uint64_t bit, char const* name) {
    if ((throttling & bit) != 0) text += (text.empty() ? "" : ", ") + std::string{name};
  };
  add(Throttle::hardware, "hardware slowdown");
  add(Throttle::software_heat, "heat (software limit)");
  add(Throttle::hardware_heat, "heat (hardware limit)");
  add(Throttle::power_brake, "power brake");
  return text;
}

/// True when the GPU is not idle. An idle GPU lowers its clocks to save power.
bool is_at_work(GpuState const& state) {
  return state.sm_mhz && (state.throttling.value_or(0) & Throttle::idle) == 0;
}

/// True when the clocks differ by more than boost and temperature explain.
bool is_far_from(std::optional<int> lowest, std::optional<int> highest) {
  constexpr double share = 0.9;
  return lowest && highest && *lowest < share * *highest;
}

}  // namespace

void GpuWatch::look_again() {
  if (Clock::now() - looked_at_ >= apart) look();
}

void GpuWatch::look() {
  if (!nvml_) return;
  looked_at_ = Clock::now();
  auto const state = nvml_->state_of(gpu_);
  if (state)
    take(*state);
  else if (was_seen_)
    lost_ = state.error().message;
}

void GpuWatch::take(GpuState const& state) {
  auto const least = [](auto one, auto other) {
    return std::min(one, other);
  };
  auto const most = [](auto one, auto other) {
    return std::max(one, other);
  };
  auto const all = [](auto one, auto other) {
    return one | other;
  };
  if (is_at_work(state) && is_at_work(last_)) {
    keep(seen_.sm_mhz, std::max(state.sm_mhz, last_.sm_mhz), least);
    keep(seen_.memory_mhz, std::max(state.memory_mhz, last_.memory_mhz), least);
    keep(highest_sm_mhz_, std::min(state.sm_mhz, last_.sm_mhz), most);
  }
  last_ = state;
  keep(seen_.temperature_c, state.temperature_c, most);
  keep(seen_.throttling, state.throttling, all);
  keep(seen_.uncorrected_errors, state.uncorrected_errors, most);
  keep(first_errors_, state.uncorrected_errors, least);
  was_seen_ = true;
}

/// Returns the reason to reject results; empty when there is none.
std::string GpuWatch::trouble() const {
  if (!lost_.empty()) return lost_;
  if (auto const throttling = seen_.throttling.value_or(0) & Throttle::any; throttling != 0)
    return "the GPU was throttled during the round: " + reasons_of(throttling);
  if (is_far_from(seen_.sm_mhz, highest_sm_mhz_) &&
      (seen_.throttling.value_or(0) & Throttle::power_cap) == 0)
    return "the GPU's clock varied between " + std::to_string(*seen_.sm_mhz) + " and " +
           std::to_string(*highest_sm_mhz_) + " MHz during the round";
  auto const errors = seen_.uncorrected_errors.value_or(0) - first_errors_.value_or(0);
  if (errors != 0)
    return std::to_string(errors) + " uncorrected errors of the GPU's memory during the round";
  return {};
}

void GpuWatch::note(protocol::Message& answer) const {
  auto* const outcome = std::get_if<protocol::Outcome>(&answer);
  if (outcome == nullptr || !was_seen_) return;
  if (auto const why = trouble(); !why.empty()) {
    answer = protocol::Failure{outcome->id, "device", outcome->benchmark + ": " + why};
    return;
  }
  auto const account = [outcome](char const* name, std::optional<int> value) {
    if (value) outcome->accounts[name] = *value;
  };
  account("gpu_sm_mhz", seen_.sm_mhz);
  account("gpu_memory_mhz", seen_.memory_mhz);
  account("gpu_temperature_c", seen_.temperature_c);
  auto const identity = nvml_->identity_of(gpu_);
  if (!identity) return;
  outcome->fingerprint["gpu_uuid"] = identity->uuid;
  if (identity->is_partitioned) outcome->fingerprint["gpu_mig"] = *identity->is_partitioned;
  if (identity->power_limit_w) outcome->fingerprint["gpu_power_limit_w"] = *identity->power_limit_w;
}

}  // namespace torchwatch::runner
