#include "bisect/tolerance.h"

#include <algorithm>
#include <cmath>

namespace torchwatch::bisect {
namespace {

double floor_of(Metric metric, config::DecideOptions const& options) {
  switch (metric) {
    case Metric::latency:
      return options.latency_floor_ms;
    case Metric::cmem:
    case Metric::gmem:
      return static_cast<double>(options.memory_floor_bytes);
    case Metric::leak:
      return static_cast<double>(options.leak_floor_bytes);
  }
  return 0;
}

}  // namespace

double tolerance(double before, Metric metric, config::DecideOptions const& options) {
  return std::max(floor_of(metric, options), options.threshold * std::abs(before));
}

}  // namespace torchwatch::bisect
