#include "daemon/cli/metric_columns.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <spdlog/fmt/fmt.h>

#include "daemon/cli/measure_now.h"

namespace torchwatch::cli {
namespace {

constexpr std::array native_metrics{Metric::latency, Metric::cmem, Metric::gmem, Metric::leak};
constexpr std::array native_ratios{Metric::latency, Metric::cmem, Metric::gmem};

bool has_native(std::set<Metric> const& metrics) {
  return std::ranges::any_of(native_metrics,
                             [&](Metric metric) { return metrics.contains(metric); });
}

MetricColumn with_width(MetricColumn column, int least) {
  column.width = std::max(least, static_cast<int>(column.heading.size()));
  return column;
}

MetricColumn value_column(Metric metric) {
  constexpr int usual = 11;
  auto const& name = metric.name();
  auto const& unit = metric.kind().unit;
  if (unit == "ms") return with_width({metric, name + " ms", 1, 3, 0}, usual + 1);
  if (unit == "bytes") return with_width({metric, name + " MiB", mib, 2, 0}, usual);
  if (unit == "bytes/iteration") return with_width({metric, name + " B/iter", 1, 0, 0}, usual + 1);
  if (unit == "1") return with_width({metric, name, 1, -1, 0}, usual);
  return with_width({metric, name + " " + unit, 1, -1, 0}, usual);
}

MetricColumn ratio_column(Metric metric) {
  constexpr int usual = 9;
  auto const mark = metric.kind().is_higher_better ? "*" : "";
  return with_width({metric, metric.name() + mark, 1, 3, 0}, usual);
}

}  // namespace

std::vector<MetricColumn> value_columns(std::set<Metric> metrics) {
  if (metrics.empty() || has_native(metrics))
    metrics.insert(native_metrics.begin(), native_metrics.end());
  std::vector<MetricColumn> columns;
  for (auto const metric : metrics)
    columns.push_back(value_column(metric));
  return columns;
}

std::vector<MetricColumn> ratio_columns(std::set<Metric> metrics) {
  if (metrics.empty() || has_native(metrics))
    metrics.insert(native_ratios.begin(), native_ratios.end());
  std::vector<MetricColumn> columns;
  for (auto const metric : metrics)
    columns.push_back(ratio_column(metric));
  return columns;
}

std::string value_text(MetricColumn const& column, double value) {
  constexpr double many = 1e5;  // has no digits after the decimal point
  value /= column.unit;
  if (column.digits >= 0) return fmt::format("{:.{}f}", value, column.digits);
  return std::abs(value) < many ? fmt::format("{:.6g}", value) : fmt::format("{:.0f}", value);
}

std::string cell_of(MetricColumn const& column, std::string const& text) {
  return fmt::format(" {:>{}}", text, column.width);
}

std::string headings_of(std::vector<MetricColumn> const& columns) {
  std::string text;
  for (auto const& column : columns)
    text += cell_of(column, column.heading);
  return text;
}

}  // namespace torchwatch::cli
