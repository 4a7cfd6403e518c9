#pragma once

#include <set>
#include <string>
#include <vector>

#include "storage/domain/metric.h"

namespace torchwatch::cli {

/// A column of a table that shows one metric.
struct MetricColumn {
  Metric metric;
  std::string heading;
  double unit = 1;  ///< values are divided by it: MiB for bytes
  int digits = -1;  ///< after the decimal point; -1: six significant ones
  int width = 0;    ///< characters of the heading and of a cell
};

/// Returns the columns for values of `metrics`, in the order of metrics. With a native metric, or
/// with none at all, all native ones have a column. Headings have the unit: "cmem MiB",
/// "tokens_per_s 1/s". The unit "1" of counts is left out.
std::vector<MetricColumn> value_columns(std::set<Metric> metrics);

/// Returns the columns for ratios of `metrics`, in the order of metrics. With a native metric,
/// latency, cmem and gmem have a column. Headings are names. "*" follows the name of a metric whose
/// higher values are better.
std::vector<MetricColumn> ratio_columns(std::set<Metric> metrics);

/// Returns a value of the column's metric, without its unit: "12.345".
std::string value_text(MetricColumn const& column, double value);

/// Returns " 12.345": a cell, right-aligned, with a space in front of it.
std::string cell_of(MetricColumn const& column, std::string const& text);

/// Returns the cells of the headings.
std::string headings_of(std::vector<MetricColumn> const& columns);

}  // namespace torchwatch::cli
