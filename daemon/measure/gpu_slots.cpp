#include "daemon/measure/gpu_slots.h"

#include <cstddef>
#include <utility>

#include "runner/nvml.h"

namespace torchwatch::measure {
namespace {

bool takes_all_of_this_host(config::FleetOptions const& fleet) {
  return fleet.launcher.empty() && fleet.devices == std::vector<std::string>{config::all_devices};
}

Result<std::vector<std::string>> gpus_of_host(std::string const& library) {
  auto const nvml = runner::Nvml::load(library);
  return nvml ? nvml->gpus() : nvml.error();
}

}  // namespace

Result<> find_gpus(std::vector<config::FleetOptions>& fleets, std::string const& library) {
  for (auto& fleet : fleets) {
    if (!takes_all_of_this_host(fleet)) continue;
    auto found = gpus_of_host(library);
    auto const name = "fleet " + fleet.name + " wants all GPUs of this host: ";
    if (!found) return Error{ErrorCode::unavailable, name + found.error().message};
    if (found->empty()) return Error{ErrorCode::unavailable, name + "NVML finds none"};
    fleet.slots = static_cast<int>(found->size());
    fleet.devices = std::move(*found);
  }
  return {};
}

std::string gpu_of_slot(std::vector<std::string> const& devices, std::size_t slot) {
  if (devices.empty()) return {};
  return devices.front() == config::all_devices ? std::to_string(slot) : devices.at(slot);
}

}  // namespace torchwatch::measure
