#pragma once

#include <cstdint>

#include <nlohmann/json.hpp>

/// The first CUDA device. Where LibTorch was built without CUDA there is none, and nothing here
/// does anything.
namespace torchwatch::worker::gpu {

/// Bytes of the caching allocator, at their highest, and of the whole device now, other processes
/// included.
struct Memory {
  std::int64_t allocated = 0;
  std::int64_t reserved = 0;
  std::int64_t device_used = 0;
};

bool is_available();

/// Waits until all work on the device is done.
void synchronize();

/// Gives unused memory back to the device, so that nothing is reserved that was needed before.
void release_cache();

/// The highest values start again from the current ones. The device must have been used.
void reset_peaks();

/// The device must have been used.
Memory memory();

/// Whether factors of single precision products and convolutions may be rounded to ten bits.
void allow_tf32(bool allowed);

/// Name, driver, CUDA versions; an empty object without a device.
nlohmann::json describe();

}  // namespace torchwatch::worker::gpu
