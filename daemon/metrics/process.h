#pragma once

#include <vector>

#include <prometheus/metric_family.h>

namespace torchwatch::metrics {

/// Returns the metrics that every process reports to Prometheus: processor time, memory, open
/// files, start. Leaves out what /proc does not show. Any thread.
std::vector<prometheus::MetricFamily> process_metrics();

}  // namespace torchwatch::metrics
