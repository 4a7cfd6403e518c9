#include "runner/worker/device.h"

namespace torchwatch::worker {
namespace {

class Host final : public Device {
 public:
  torch::Device place() const override { return torch::kCPU; }

  bool is_apart() const override { return false; }

  void synchronize() override {}

  void release_cache() override {}

  void reset_peaks() override {}

  DeviceMemory memory() override { return {}; }

  Trace trace(std::function<void()> const& before,
              std::function<void()> const& steps,
              Traced what) override {
    return trace_device(c10::DeviceType::CPU, before, steps, what == Traced::operators);
  }

  nlohmann::json describe() noexcept override { return nlohmann::json::object(); }
};

}  // namespace

std::unique_ptr<Device> host_device() {
  return std::make_unique<Host>();
}

}  // namespace torchwatch::worker
