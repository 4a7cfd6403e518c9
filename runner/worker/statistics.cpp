#include "runner/worker/statistics.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace torchwatch::worker {

double median(std::vector<double> values) {
  auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double slope(std::vector<double> const& values) {
  std::vector<double> slopes;
  slopes.reserve(values.size() * (values.size() - 1) / 2);
  for (std::size_t from = 0; from < values.size(); ++from)
    for (std::size_t to = from + 1; to < values.size(); ++to)
      slopes.push_back((values[to] - values[from]) / static_cast<double>(to - from));
  return median(std::move(slopes));
}

}  // namespace torchwatch::worker
