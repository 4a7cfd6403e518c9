#include "bisect/compare/statistics.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <utility>

namespace torchwatch::bisect {

double median(std::vector<double> values) {
  // A total order, even if a value is NaN.
  auto const less = [](double left, double right) {
    return std::strong_order(left, right) < 0;
  };
  auto const middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle, less);
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle, less)) / 2;
}

double spread(std::vector<double> values) {
  constexpr double of_normal = 1.4826;
  double const middle = median(values);
  for (double& value : values)
    value = std::abs(value - middle);
  return of_normal * median(std::move(values));
}

}  // namespace torchwatch::bisect
