#include "daemon/cli/suite_ratios.h"

#include <cmath>

namespace torchwatch::cli {
namespace {

std::map<Metric, double> ratios_of(std::map<Metric, double> const& first,
                                   std::map<Metric, double> const& second) {
  std::map<Metric, double> ratios;
  for (auto const& [metric, level] : first) {
    auto const other = second.find(metric);
    if (other != second.end() && level > 0 && other->second > 0)
      ratios[metric] = other->second / level;
  }
  return ratios;
}

std::vector<MeanRatio> means_of(std::vector<SidesRow> const& rows) {
  struct Sum {
    double logs = 0;
    int count = 0;
  };

  std::map<std::pair<Test, Metric>, Sum> sums;
  for (auto const& row : rows) {
    for (auto const& [metric, ratio] : row.ratios) {
      auto& sum = sums[{row.key.test, metric}];
      sum.logs += std::log(ratio);
      ++sum.count;
    }
  }
  std::vector<MeanRatio> means;
  for (auto const& [key, sum] : sums)
    means.push_back({key.first, key.second, std::exp(sum.logs / sum.count), sum.count});
  return means;
}

}  // namespace

Result<> add_levels(Side& side, Benchmark const& benchmark, std::map<Metric, double> levels) {
  ModelTest const key{benchmark.model, benchmark.test};
  if (!side.emplace(key, std::move(levels)).second)
    return Error{ErrorCode::invalid_argument,
                 "found " + name_of(benchmark) +
                     " beside the same test on another device or backend, allowed is one of them"};
  return {};
}

SidesComparison compare_sides(Side const& first, Side const& second) {
  SidesComparison comparison;
  for (auto const& [key, levels] : first) {
    auto const other = second.find(key);
    if (other == second.end())
      comparison.only_first.push_back(key);
    else
      comparison.rows.push_back({key, ratios_of(levels, other->second)});
  }
  for (auto const& [key, levels] : second)
    if (!first.contains(key)) comparison.only_second.push_back(key);
  comparison.means = means_of(comparison.rows);
  return comparison;
}

}  // namespace torchwatch::cli
