#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "config/options.h"
#include "storage/base/result.h"

namespace torchwatch::measure {

/// Sets the slots of each fleet of "all" GPUs on this host: one per GPU, or per MIG instance of a
/// partitioned GPU. Fleets with a launcher are not changed: their slots use GPUs by index.
/// `library`: NVIDIA's, as the loader finds it. Fails with unavailable, naming the fleet, when
/// there is no such library, or no GPU.
Result<> find_gpus(std::vector<config::FleetOptions>& fleets,
                   std::string const& library = "libnvidia-ml.so.1");

/// Returns the GPU of slot `slot` of a fleet, as a value of CUDA_VISIBLE_DEVICES: an entry of
/// `devices`, or the slot's number if they are "all". Empty if the fleet names none: the first GPU
/// that CUDA finds. The runner gets it as --gpu, and sets it for its workers (runner/round).
std::string gpu_of_slot(std::vector<std::string> const& devices, std::size_t slot);

}  // namespace torchwatch::measure
