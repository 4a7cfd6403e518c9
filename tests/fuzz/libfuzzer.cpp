#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/targets.h"

/// What libFuzzer calls with one input after the other; FUZZ_TARGET is one of targets.h.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  torchwatch::fuzz::FUZZ_TARGET({reinterpret_cast<char const*>(data), size});
  return 0;
}
