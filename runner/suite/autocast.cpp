#include "runner/suite/autocast.h"

#include <ATen/autocast_mode.h>
#include <torch/version.h>

namespace torchwatch::suite {
namespace {

namespace autocast = at::autocast;

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
bool is_enabled(torch::DeviceType device) {
  return autocast::is_autocast_enabled(device);
}

void enable(torch::DeviceType device, bool enabled) {
  autocast::set_autocast_enabled(device, enabled);
}
#else
bool is_enabled(torch::DeviceType device) {
  return device == torch::kCUDA ? autocast::is_enabled() : autocast::is_cpu_enabled();
}

void enable(torch::DeviceType device, bool enabled) {
  device == torch::kCUDA ? autocast::set_enabled(enabled) : autocast::set_cpu_enabled(enabled);
}
#endif

}  // namespace

Autocast::Autocast(torch::DeviceType device) : device_(device), before_(is_enabled(device)) {
  enable(device_, true);
  autocast::increment_nesting();
}

Autocast::~Autocast() {
  if (autocast::decrement_nesting() == 0) autocast::clear_cache();
  enable(device_, before_);
}

}  // namespace torchwatch::suite
