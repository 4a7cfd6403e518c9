#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "storage/domain/metric.h"
#include "storage/domain/test.h"

namespace torchwatch {

enum class Device { cpu, cuda };

std::string_view to_string(Device device);

std::optional<Device> parse_device(std::string_view text);

/// A model with test, device and backend. The suite sets batch size, precision and scale, equal
/// for a whole fleet. A benchmark belongs to one suite: the configuration allows no name in two.
struct Benchmark {
  std::string model;
  Test test = Test::train;
  Device device = Device::cpu;
  std::string backend = "eager";
  friend auto operator<=>(Benchmark const&, Benchmark const&) = default;
};

/// TorchBench's spelling: "test_eval[resnet50-cpu-eager]".
std::string name_of(Benchmark const& benchmark);

/// The inverse of name_of. Returns nothing when `name` has another form. Model names contain no
/// '-'.
std::optional<Benchmark> parse_benchmark(std::string_view name);

/// A benchmark on one fleet.
struct FleetBenchmark {
  std::string fleet;
  Benchmark benchmark;
  friend auto operator<=>(FleetBenchmark const&, FleetBenchmark const&) = default;
};

/// One benchmark and metric on one fleet.
struct Series {
  std::string fleet;
  Benchmark benchmark;
  Metric metric = Metric::latency;
  friend auto operator<=>(Series const&, Series const&) = default;
};

/// TorchBench's spelling of a metric of a benchmark: "test_eval[resnet50-cpu-eager]_latency".
std::string name_of(Series const& series);

}  // namespace torchwatch
