#pragma once

#include <string>
#include <utility>
#include <vector>

#include <prometheus/metric_family.h>

namespace torchwatch::metrics {

/// One value, with the labels that distinguish it from others of its name.
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

/// Returns a metric whose value rises and falls.
inline prometheus::MetricFamily gauge(std::string name,
                                      std::string help,
                                      std::vector<Value> values) {
  return family(std::move(name), std::move(help), prometheus::MetricType::Gauge, std::move(values));
}

/// Returns a metric whose value only grows, also over restarts.
inline prometheus::MetricFamily counter(std::string name,
                                        std::string help,
                                        std::vector<Value> values) {
  return family(
      std::move(name), std::move(help), prometheus::MetricType::Counter, std::move(values));
}

}  // namespace torchwatch::metrics
