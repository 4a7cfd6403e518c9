#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "config/options.h"
#include "storage/base/result.h"

namespace torchwatch::measure {

/// Has each fleet of "all" GPUs that is measured on this host a slot for each that it has, or for
/// each MIG instance of one that is partitioned. Behind a launcher nobody looks: its slots have the
/// GPUs with their indices. `library`: NVIDIA's, as the loader finds it. Fails with unavailable,
/// naming the fleet, when there is no such library, or no GPU.
Result<> find_gpus(std::vector<config::FleetOptions>& fleets,
                   std::string const& library = "libnvidia-ml.so.1");

/// The GPU that slot `slot` of a fleet measures on, as CUDA_VISIBLE_DEVICES takes it: an entry of
/// `devices`, or the slot's number if they are "all". Empty if the fleet names none: the first that
/// CUDA finds. The runner gets it as --gpu, and sets it for its workers (runner/round).
std::string gpu_of_slot(std::vector<std::string> const& devices, std::size_t slot);

}  // namespace torchwatch::measure
