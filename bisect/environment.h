#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "config/options.h"
#include "storage/domain/benchmark.h"

namespace torchwatch::bisect {

/// One series of one build, measured on two nights; at least one value each, in the metric's unit.
struct Remeasured {
  Metric metric = Metric::latency;
  std::vector<double> then;
  std::vector<double> now;
};

/// How far one metric of a fleet is from what it was.
struct EnvironmentShift {
  Metric metric = Metric::latency;
  std::size_t series = 0;
  std::size_t shifted = 0;  ///< whose median moved by more than its tolerance, up or down
  double ratio = 1;         ///< median over the series, now to then
};

/// Compares what the same build gave on two nights. What differs is the host, its software or its
/// neighbours, never a commit. Returns the metrics of which half of the series or more moved: one
/// series may have its own reasons. Pure.
std::vector<EnvironmentShift> environment_shifts(std::span<Remeasured const> series,
                                                 config::DecideOptions const& options);

}  // namespace torchwatch::bisect
