#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace torchwatch {

enum class Test { train, eval };
enum class Device { cpu, cuda };

/// A measured quantity of a benchmark. Lower is better for all of them.
enum class Metric {
  latency,  ///< milliseconds of one iteration, median of the runs
  cmem,     ///< peak bytes allocated on the CPU
  gmem,     ///< peak bytes allocated on the GPU
  leak,     ///< bytes kept per iteration
};

inline constexpr std::array all_metrics{Metric::latency, Metric::cmem, Metric::gmem, Metric::leak};

std::string_view to_string(Test test);
std::string_view to_string(Device device);
std::string_view to_string(Metric metric);
/// "ms", "bytes" or "bytes/iteration".
std::string_view unit_of(Metric metric);

std::optional<Test> parse_test(std::string_view text);
std::optional<Device> parse_device(std::string_view text);
std::optional<Metric> parse_metric(std::string_view text);

/// True for metrics that two processes of one build report equal to the byte.
bool is_deterministic(Metric metric);

/// A model with test, device and backend. The suite sets batch size, precision and scale, equal
/// for a whole fleet.
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
