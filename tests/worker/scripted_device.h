#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "runner/protocol.h"
#include "runner/worker/device.h"

namespace torchwatch::worker {

/// A fake device: it uses the host's tensors, and reports what a test's script defines.
class ScriptedDevice final : public Device {
 public:
  struct Script {
    std::function<void()> synchronize = [] {
    };
    std::function<DeviceMemory()> memory = [] {
      return DeviceMemory{};
    };
    Trace device_work{};
    Trace operators{};
    nlohmann::json description = nlohmann::json::object();
  };

  explicit ScriptedDevice(Script script) : script_(std::move(script)) {}

  torch::Device place() const override { return torch::kCPU; }

  bool is_apart() const override { return true; }

  void synchronize() override { script_.synchronize(); }

  void release_cache() override {}

  void reset_peaks() override {}

  DeviceMemory memory() override { return script_.memory(); }

  Trace trace(std::function<void()> const& before,
              std::function<void()> const& steps,
              Traced what) override {
    before();
    steps();
    return what == Traced::operators ? script_.operators : script_.device_work;
  }

  nlohmann::json describe() noexcept override { return script_.description; }

 private:
  Script script_;
};

/// Returns this host, with a scripted device as "cuda".
inline Devices devices_with(ScriptedDevice::Script script) {
  Devices devices;
  devices.by_name["cpu"] = host_device();
  devices.by_name["cuda"] = std::make_unique<ScriptedDevice>(std::move(script));
  return devices;
}

/// Returns a job at smoke scale, with few runs.
inline protocol::Job job_for(std::string const& benchmark) {
  protocol::Job job;
  job.id = "j1";
  job.benchmark = benchmark;
  job.measure.scale = "smoke";
  job.measure.runs = 3;
  job.measure.min_run_ms = 10;
  return job;
}

}  // namespace torchwatch::worker
