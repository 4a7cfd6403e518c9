#pragma once

#include "runner/worker/device.h"

namespace torchwatch::worker {

/// This host, and its first CUDA device where LibTorch was built for CUDA and finds one.
Devices devices_of_host();

/// Whether factors of single precision products and convolutions may be rounded to ten bits.
void allow_tf32(bool allowed);

}  // namespace torchwatch::worker
