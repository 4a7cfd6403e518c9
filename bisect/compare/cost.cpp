#include "bisect/compare/cost.h"

#include <algorithm>
#include <cmath>

namespace torchwatch::bisect {
namespace {

double floor_of(Metric metric, config::DecideOptions const& options) {
  if (metric == Metric::latency) return options.latency_floor_ms;
  if (metric == Metric::leak) return static_cast<double>(options.leak_floor_bytes);
  bool const is_memory = metric == Metric::cmem || metric == Metric::gmem;
  return is_memory ? static_cast<double>(options.memory_floor_bytes) : metric.kind().floor;
}

/// The increase of the cost from `before` when the value falls by `floor`.
double cost_of_floor(double before, double floor) {
  double const value = 1 / before - floor;
  return value > 0 ? 1 / value - before : HUGE_VAL;
}

}  // namespace

double cost_of(double value, Metric metric) {
  return metric.kind().is_higher_better ? 1 / value : value;
}

Pair cost_of(Pair const& pair, Metric metric) {
  return {cost_of(pair.before, metric), cost_of(pair.after, metric)};
}

Comparison values_of(Comparison costs, Metric metric) {
  if (!metric.kind().is_higher_better) return costs;
  bool const has_levels = costs.before > 0 && costs.after > 0;
  if (has_levels) {
    costs.before = 1 / costs.before;
    costs.after = 1 / costs.after;
  }
  if (costs.ratio)
    costs.ratio = RatioInterval{.ratio = 1 / costs.ratio->ratio,
                                .low = 1 / costs.ratio->high,
                                .high = 1 / costs.ratio->low};
  return costs;
}

double threshold_of(Metric metric, double usual) {
  double const own = metric.kind().threshold;
  return own > 0 ? own : usual;
}

double tolerance(double before, Metric metric, config::DecideOptions const& options) {
  double floor = floor_of(metric, options);
  if (metric.kind().is_higher_better && floor > 0) floor = cost_of_floor(before, floor);
  return std::max(floor, threshold_of(metric, options.threshold) * std::abs(before));
}

}  // namespace torchwatch::bisect
