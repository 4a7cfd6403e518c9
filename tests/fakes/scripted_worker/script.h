#pragma once

#include <string>

namespace torchwatch::fakes {

/// One benchmark's entry in <prefix>/script.json; every field but the benchmark's name may be left
/// out.
struct Script {
  double latency = 10;  ///< milliseconds
  double cmem = 1e6;    ///< bytes
  double gmem = 0;      ///< bytes; reported, as of a GPU that was traced, only when positive
  double leak = 0;      ///< bytes per iteration
  double noise = 0.02;  ///< sigma of the latency's logarithm, between processes; a quarter of it
                        ///< between samples
  double seconds = 0;   ///< how long the job really takes
  std::string behave = "ok";  ///< or one of misbehave()'s
};

}  // namespace torchwatch::fakes
