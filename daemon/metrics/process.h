#pragma once

#include <vector>

#include <prometheus/metric_family.h>

namespace torchwatch::metrics {

/// What every process tells Prometheus of itself: processor time, memory, open files, start. What
/// /proc does not say is left out. Any thread.
std::vector<prometheus::MetricFamily> process_metrics();

}  // namespace torchwatch::metrics
