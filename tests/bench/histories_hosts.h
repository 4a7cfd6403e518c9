#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace torchwatch::bench {

/// Converts the true levels, one per night and relative to the usual one, to recorded logarithms.
using Recorder =
    std::function<std::vector<double>(std::vector<double> const& levels, std::mt19937_64& random)>;

/// A kind of host, clock or allocator, and how it records levels.
struct Host {
  std::string name;
  Recorder record;
  bool shows = true;  ///< a step of 3% must be found within three nights
};

/// Kinds of hosts: exact bytes with outliers, clocks whose ticks are as wide as the noise,
/// correlated nights, values that are not numbers.
std::vector<Host> hosts();

}  // namespace torchwatch::bench
