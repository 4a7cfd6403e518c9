#pragma once

#include <string>

/// Whether this process is the build that it was told to be.
namespace torchwatch::worker {

/// Why a library that `names` has is not in this process: the linker warns on standard error and
/// goes on without what it does not find or cannot load (ld.so(8), LD_PRELOAD). `names` is what
/// that variable holds. Empty when all are there.
std::string why_not_preloaded(std::string names);

}  // namespace torchwatch::worker
