#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/base/result.h"
#include "storage/domain/benchmark.h"

namespace torchwatch::years {

/// A model on a fleet, with all its tests.
struct FleetModel {
  std::string fleet;
  std::string model;
};

/// The models of the catalogue by what happens to them, in an order drawn from the seed. Each has
/// both tests.
class Suite {
 public:
  explicit Suite(std::uint64_t seed);

  /// All that the world measures, on the fleets "cpu" and "gpu": first those below.
  std::vector<std::string> measured() const;

  /// Benchmarks that incidents happen to, in turn.
  std::vector<FleetBenchmark> const& eventful() const { return eventful_; }

  /// It drifts, stops and is noisy.
  std::string const& special() const { return models_[special_at]; }

  /// Nothing happens to it: other quiet models are copied from it.
  std::string const& quiet() const { return models_[quiet_at]; }

  /// What may be copied from the quiet model, in the order of need.
  std::vector<FleetModel> copies() const;

 private:
  static constexpr std::size_t special_at = 1;
  static constexpr std::size_t quiet_at = 2;

  std::vector<std::string> models_;
  std::vector<FleetBenchmark> eventful_;
};

/// The benchmark of a model on a fleet.
FleetBenchmark benchmark_on(std::string const& fleet, std::string model, Test test);

/// The metrics that a worker reports on a device.
std::vector<Metric> metrics_on(Device device);

/// What a series usually has: ms or bytes, and the standard deviation of a process as a share.
struct Usual {
  double level = 0;
  double noise = 0;
};

Usual usual_of(std::uint64_t seed, Series const& series);

}  // namespace torchwatch::years
