#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace torchwatch::bench {

/// Levels, one a night, as factors of what is usual, become logarithms of what is recorded.
using Recorder =
    std::function<std::vector<double>(std::vector<double> const& levels, std::mt19937_64& random)>;

/// What a host, its clock or an allocator makes of levels.
struct Host {
  std::string name;
  Recorder record;
  bool shows = true;  ///< a step of 3% to within three nights
};

/// Bytes that repeat exactly but for strays, clocks whose ticks are as wide as the noise, nights
/// that are like the night before, values that are none.
std::vector<Host> hosts();

}  // namespace torchwatch::bench
