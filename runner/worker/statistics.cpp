#include "runner/worker/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

namespace torchwatch::worker {

double median(std::vector<double> values) {
  auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::vector<int> outliers(std::vector<double> const& values) {
  constexpr double normal_quartile = 0.6745;  // the median deviation of a standard normal
  constexpr double far = 3.5;
  constexpr double never_far = 0.01;
  double const middle = median(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (double const value : values)
    deviations.push_back(std::abs(value - middle));
  double const reach =
      std::max(far * median(deviations) / normal_quartile, never_far * std::abs(middle));
  std::vector<int> places;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (deviations[i] > reach) places.push_back(static_cast<int>(i));
  return places;
}

double slope(std::vector<double> const& values) {
  std::vector<double> slopes;
  slopes.reserve(values.size() * (values.size() - 1) / 2);
  for (std::size_t from = 0; from < values.size(); ++from)
    for (std::size_t to = from + 1; to < values.size(); ++to)
      slopes.push_back((values[to] - values[from]) / static_cast<double>(to - from));
  return median(std::move(slopes));
}

bool has_trend(std::vector<double> const& values) {
  constexpr double critical = 3.0902;  // the normal quantile of 0.999
  double rises = 0;
  for (std::size_t from = 0; from < values.size(); ++from)
    for (std::size_t to = from + 1; to < values.size(); ++to)
      rises += (values[to] > values[from] ? 1 : 0) - (values[to] < values[from] ? 1 : 0);

  std::map<double, double> ties;
  for (double const value : values)
    ++ties[value];
  auto const spread = [](double n) {
    return n * (n - 1) * (2 * n + 5) / 18;
  };
  double variance = spread(static_cast<double>(values.size()));
  for (auto const& [value, count] : ties)
    variance -= spread(count);
  return std::abs(rises) - 1 > critical * std::sqrt(std::max(variance, 0.0));
}

}  // namespace torchwatch::worker
