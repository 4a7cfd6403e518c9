#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "runner/worker/device.h"

/// Who measures: this host and the LibTorch that is loaded.
namespace torchwatch::worker {

/// The build's own version file beside LibTorch, or else its headers' version:
/// "2.9.0.dev20251001+cpu", "1.13.0".
std::string pytorch_version();

/// The commit that LibTorch was built from, of the nightly branch for nightlies; empty when the
/// build does not tell.
std::string git_hash();

/// Host, kernel, CPU model, governor, allowed processors, threads, LibTorch and a digest of its
/// configuration, GPU and driver if any. What the host does not tell is an empty string.
nlohmann::json fingerprint(Devices const& devices);

/// The most memory this process ever had resident, in bytes.
std::int64_t peak_resident_bytes();

/// Makes the C library keep what is freed below its largest threshold for mapping, instead of
/// giving it back to the kernel whenever it happens to lie at the end of the heap. Call it before
/// the first tensor.
void keep_freed_memory();

/// Intra-operator threads, LibTorch's own and those of the BLAS below it.
void set_threads(int threads);

}  // namespace torchwatch::worker
