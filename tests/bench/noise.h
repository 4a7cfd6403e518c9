#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bisect/compare/compare.h"

namespace torchwatch::bench {

/// An endless sequence of measured pairs of processes on one host. All judges get the same pairs.
class Samples {
 public:
  virtual ~Samples() = default;

  /// Returns the next pair: a process of a build at level 1, and one of a build at level `ratio`.
  virtual bisect::Pair next(double ratio) = 0;

  virtual Metric metric() const { return Metric::latency; }
};

/// A kind of noise, which makes samples from a seed.
struct NoiseModel {
  std::string name;
  double sigma = 0;  ///< coefficient of variation of a process's median; 0: not stated in the name
  std::function<std::unique_ptr<Samples>(std::uint64_t seed)> make;
};

/// Models with one size of noise: normal, heavy tails, within and between processes, drift, bursts,
/// two modes.
std::vector<NoiseModel> noise_models(double sigma);

/// Models of effects of hosts on two equal builds: other load with a rhythm of processes or of
/// runs, a slower place, processes that take resources from each other, coarse clocks.
std::vector<NoiseModel> host_models();

/// Models with normal noise of 3%, and outliers that take many times as long.
std::vector<NoiseModel> outlier_models();

/// A model of memory that repeats exactly, except in a share of the processes that take `extra`
/// more.
NoiseModel memory_outliers(double share, double extra);

/// A model that replays pairs measured on two identical builds, in their order from a random start.
/// The file has one list of [before, after] for each series. recorded.json is from a quiet host,
/// recorded_busy.json from a host that also ran square_load and two compilers, with workers'
/// medians. Throws std::runtime_error when the file cannot be read or has no pairs.
NoiseModel recorded_noise(std::string name, std::string const& file);

}  // namespace torchwatch::bench
