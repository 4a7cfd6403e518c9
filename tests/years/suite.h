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

/// The models of the catalogue, grouped by their role in a history. The seed determines the order.
/// Each model has both tests.
class Suite {
 public:
  explicit Suite(std::uint64_t seed);

  /// Returns the models that the world measures, on the fleets "cpu" and "gpu": the eventful, the
  /// special and the quiet one.
  std::vector<std::string> measured() const;

  /// The benchmarks that have incidents, in the order in which they take turns.
  std::vector<FleetBenchmark> const& eventful() const { return eventful_; }

  /// The model that drifts, stops and is noisy.
  std::string const& special() const { return models_[special_at]; }

  /// The model without events, from which other models are copied.
  std::string const& quiet() const { return models_[quiet_at]; }

  /// Returns the models and fleets that copies of the quiet model can have, in the order of use.
  std::vector<FleetModel> copies() const;

 private:
  static constexpr std::size_t special_at = 1;
  static constexpr std::size_t quiet_at = 2;

  std::vector<std::string> models_;
  std::vector<FleetBenchmark> eventful_;
};

/// Returns the benchmark of a model on a fleet.
FleetBenchmark benchmark_on(std::string const& fleet, std::string model, Test test);

/// Returns the metrics that a worker reports on a device.
std::vector<Metric> metrics_on(Device device);

/// The usual level of a series, in ms or bytes, and the standard deviation of a process as a share
/// of it.
struct Usual {
  double level = 0;
  double noise = 0;
};

/// Returns the level and noise that the seed gives a series.
Usual usual_of(std::uint64_t seed, Series const& series);

}  // namespace torchwatch::years
