#pragma once

#include "runner/worker/device.h"

namespace torchwatch::worker {

/// Returns the CPU of this host, and its first CUDA device if LibTorch was built for CUDA and finds
/// one.
Devices devices_of_host();

/// The permission to round factors of single precision products and convolutions to ten bits.
enum class Tf32 { as_pytorch, allowed, forbidden };

/// Sets the permission. `as_pytorch` restores the settings from the start of the program, which by
/// default permit it for convolutions only.
void set_tf32(Tf32 wish);

}  // namespace torchwatch::worker
