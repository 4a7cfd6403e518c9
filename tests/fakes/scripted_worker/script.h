#pragma once

#include <string>

namespace torchwatch::fakes {

/// The entry of one benchmark in <prefix>/script.json. All fields are optional.
struct Script {
  double latency = 10;        ///< milliseconds
  double cmem = 1e6;          ///< bytes
  double gmem = 0;            ///< bytes; reported only when positive, as from a traced GPU
  double leak = 0;            ///< bytes per iteration
  double noise = 0.02;        ///< standard deviation of the latency's logarithm between processes;
                              ///< between samples it is a quarter of this
  double seconds = 0;         ///< real duration of the job
  std::string behave = "ok";  ///< or a behaviour of misbehave()
};

}  // namespace torchwatch::fakes
