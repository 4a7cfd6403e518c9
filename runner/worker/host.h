#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "runner/worker/device.h"

/// Facts and settings of this host and the loaded LibTorch.
namespace torchwatch::worker {

/// Returns the version in LibTorch's directory, "2.9.0.dev20251001+cpu", or else that of the
/// headers, "1.13.0".
std::string pytorch_version();

/// Returns the commit that LibTorch was built from, for nightlies that of the nightly branch. Empty
/// when the build does not contain it.
std::string git_hash();

/// Returns host, kernel, CPU model, governor, allowed CPUs, threads, LibTorch with a digest of its
/// configuration, and GPU and driver if any. Unavailable values are empty strings.
nlohmann::json fingerprint(Devices const& devices);

/// Returns the peak resident memory of this process, in bytes.
std::int64_t peak_resident_bytes();

/// Makes the C library keep freed memory, except blocks above its largest mmap threshold. By
/// default it returns memory at the end of the heap to the kernel. Call it before the first tensor.
void keep_freed_memory();

/// Sets the number of intra-operator threads, of LibTorch and of its BLAS library.
void set_threads(int threads);

}  // namespace torchwatch::worker
