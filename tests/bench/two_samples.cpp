#include "two_samples.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <boost/math/distributions/kolmogorov_smirnov.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace torchwatch::bench {

double mean(Values const& values) {
  double sum = 0;
  for (double const value : values)
    sum += value;
  return sum / static_cast<double>(values.size());
}

double median(Values values) {
  std::ranges::sort(values);
  auto const half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double mann_whitney(Values const& before, Values const& after) {
  std::map<double, double> counts;  // number of equal values
  for (double const value : before)
    counts[value] += 1;
  for (double const value : after)
    counts[value] += 1;
  std::map<double, double> ranks;
  double below = 0;
  double ties = 0;
  for (auto const& [value, count] : counts) {
    ranks[value] = below + (count + 1) / 2;
    below += count;
    ties += count * count * count - count;
  }
  double sum = 0;
  for (double const value : before)
    sum += ranks[value];
  auto const n = static_cast<double>(before.size());
  auto const m = static_cast<double>(after.size());
  double const u = sum - n * (n + 1) / 2;
  double const variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)));
  if (variance <= 0) return 1;
  double const z = std::max(0.0, std::abs(u - n * m / 2) - 0.5) / std::sqrt(variance);
  return 2 * cdf(complement(boost::math::normal{}, z));
}

double kolmogorov_smirnov(Values before, Values after) {
  std::ranges::sort(before);
  std::ranges::sort(after);
  auto const share_up_to = [](Values const& sorted, double value) {
    auto const count = std::ranges::upper_bound(sorted, value) - sorted.begin();
    return static_cast<double>(count) / static_cast<double>(sorted.size());
  };
  double distance = 0;
  for (auto const* const side : {&before, &after})
    for (double const value : *side)
      distance =
          std::max(distance, std::abs(share_up_to(before, value) - share_up_to(after, value)));
  auto const n = static_cast<double>(before.size());
  auto const m = static_cast<double>(after.size());
  return cdf(complement(boost::math::kolmogorov_smirnov_distribution<>{n * m / (n + m)}, distance));
}

double welch(Values const& before, Values const& after) {
  auto const squared_error = [](Values const& values) {
    double const middle = mean(values);
    double sum = 0;
    for (double const value : values)
      sum += (value - middle) * (value - middle);
    auto const count = static_cast<double>(values.size());
    return sum / (count - 1) / count;
  };
  double const a = squared_error(before);
  double const b = squared_error(after);
  if (a + b == 0) return mean(before) == mean(after) ? 1 : 0;
  auto const degrees = static_cast<double>(before.size()) - 1;
  boost::math::students_t const t{degrees * (a + b) * (a + b) / (a * a + b * b)};
  return 2 * cdf(complement(t, std::abs(mean(after) - mean(before)) / std::sqrt(a + b)));
}

}  // namespace torchwatch::bench
