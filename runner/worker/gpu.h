#pragma once

#include "runner/worker/device.h"

namespace torchwatch::worker {

/// This host, and its first CUDA device where LibTorch was built for CUDA and finds one.
Devices devices_of_host();

/// Whether factors of single precision products and convolutions may be rounded to ten bits.
enum class Tf32 { as_pytorch, allowed, forbidden };

/// `as_pytorch`: as it was when the program started, convolutions alone.
void set_tf32(Tf32 wish);

}  // namespace torchwatch::worker
