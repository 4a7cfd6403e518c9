#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bisect/compare/compare.h"

namespace torchwatch::bench {

/// What one host would have measured: pairs of processes, one after the other, for as long as one
/// asks. Every judge is given the same ones.
class Samples {
 public:
  virtual ~Samples() = default;

  /// The next pair of a build at level 1 and one at level `ratio`.
  virtual bisect::Pair next(double ratio) = 0;

  virtual Metric metric() const { return Metric::latency; }
};

/// A way in which hosts are noisy.
struct NoiseModel {
  std::string name;
  double sigma = 0;  ///< coefficient of variation of a process's median; 0: none, or as recorded
  std::function<std::unique_ptr<Samples>(std::uint64_t seed)> make;
};

/// At one size of noise: normal, heavy tails, within and between processes, drift, bursts, two
/// modes.
std::vector<NoiseModel> noise_models(double sigma);

/// What hosts do to two equal builds beyond being noisy: others' work with a rhythm of processes or
/// of runs, places of which one is slower, processes that exclude each other, coarse clocks.
std::vector<NoiseModel> host_models();

/// Ordinary noise of 3%, and processes that take many times as long.
std::vector<NoiseModel> stray_models();

/// Memory, which repeats exactly but for a share of the processes that take `extra` more.
NoiseModel memory_astray(double share, double extra);

/// Draws runs of neighbours from pairs that were measured on two identical builds: a file with one
/// list of [before, after] a series. recorded.json is of a quiet host; recorded_busy.json of one
/// beside square_load and two compilers, of a worker's own medians.
NoiseModel recorded_noise(std::string name, std::string const& file);

}  // namespace torchwatch::bench
