#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/targets.h"

/// libFuzzer calls this with each input. FUZZ_TARGET is a function of targets.h.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  torchwatch::fuzz::FUZZ_TARGET({reinterpret_cast<char const*>(data), size});
  return 0;
}
