#pragma once

#include <string>
#include <utility>
#include <vector>

#include <prometheus/metric_family.h>

namespace torchwatch::metrics {

/// One value, and what tells it from others of its name.
struct Value {
  double value = 0;
  std::vector<prometheus::ClientMetric::Label> labels{};
};

inline prometheus::MetricFamily family(std::string name,
                                       std::string help,
                                       prometheus::MetricType type,
                                       std::vector<Value> values) {
  prometheus::MetricFamily result{std::move(name), std::move(help), type, {}};
  for (auto& [value, labels] : values) {
    auto& metric = result.metric.emplace_back();
    metric.label = std::move(labels);
    (type == prometheus::MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  }
  return result;
}

/// What goes up and down.
inline prometheus::MetricFamily gauge(std::string name,
                                      std::string help,
                                      std::vector<Value> values) {
  return family(std::move(name), std::move(help), prometheus::MetricType::Gauge, std::move(values));
}

/// What only grows, over restarts, too.
inline prometheus::MetricFamily counter(std::string name,
                                        std::string help,
                                        std::vector<Value> values) {
  return family(
      std::move(name), std::move(help), prometheus::MetricType::Counter, std::move(values));
}

}  // namespace torchwatch::metrics
