#include "judges.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <boost/math/distributions/kolmogorov_smirnov.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace torchwatch::bench {
namespace {

using Values = std::vector<double>;

/// Both builds' values, a process each.
struct Sides {
  Values before;
  Values after;

  void measure(Samples& samples, double ratio, std::size_t count) {
    while (before.size() < count) {
      auto const pair = samples.next(ratio);
      before.push_back(pair.before);
      after.push_back(pair.after);
    }
  }

  int processes() const { return static_cast<int>(before.size() + after.size()); }
};

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

/// Two-sided, by the normal approximation with correction for ties and continuity.
double mann_whitney(Sides const& sides) {
  std::map<double, double> counts;  // of equal values
  for (double const value : sides.before)
    counts[value] += 1;
  for (double const value : sides.after)
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
  for (double const value : sides.before)
    sum += ranks[value];
  auto const n = static_cast<double>(sides.before.size());
  auto const m = static_cast<double>(sides.after.size());
  double const u = sum - n * (n + 1) / 2;
  double const variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)));
  if (variance <= 0) return 1;
  double const z = std::max(0.0, std::abs(u - n * m / 2) - 0.5) / std::sqrt(variance);
  return 2 * cdf(complement(boost::math::normal{}, z));
}

/// Two-sided, asymptotic.
double kolmogorov_smirnov(Sides sides) {
  std::ranges::sort(sides.before);
  std::ranges::sort(sides.after);
  auto const share_up_to = [](Values const& sorted, double value) {
    auto const count = std::ranges::upper_bound(sorted, value) - sorted.begin();
    return static_cast<double>(count) / static_cast<double>(sorted.size());
  };
  double distance = 0;
  for (auto const* const side : {&sides.before, &sides.after})
    for (double const value : *side)
      distance = std::max(
          distance, std::abs(share_up_to(sides.before, value) - share_up_to(sides.after, value)));
  auto const n = static_cast<double>(sides.before.size());
  auto const m = static_cast<double>(sides.after.size());
  return cdf(complement(boost::math::kolmogorov_smirnov_distribution<>{n * m / (n + m)}, distance));
}

double welch(Sides const& sides) {
  auto const squared_error = [](Values const& values) {
    double const middle = mean(values);
    double sum = 0;
    for (double const value : values)
      sum += (value - middle) * (value - middle);
    auto const count = static_cast<double>(values.size());
    return sum / (count - 1) / count;
  };
  double const a = squared_error(sides.before);
  double const b = squared_error(sides.after);
  auto const degrees = static_cast<double>(sides.before.size()) - 1;
  boost::math::students_t const t{degrees * (a + b) * (a + b) / (a * a + b * b)};
  return 2 *
         cdf(complement(t, std::abs(mean(sides.after) - mean(sides.before)) / std::sqrt(a + b)));
}

bool slower(Sides const& sides) {
  return median(sides.after) > median(sides.before);
}

Judgement torchwatch_judges(Samples& samples, double ratio) {
  bisect::Compare compare{Metric::latency, config::DecideOptions{}};
  for (;;) {
    auto pair = samples.next(ratio);
    // Levels here are around 1; the floor of 0.01 ms must not matter.
    pair = {1000 * pair.before, 1000 * pair.after};
    compare.add(pair);
    if (auto const answer = compare.answer())
      return {answer->verdict == Verdict::regression,
              answer->verdict == Verdict::unchanged,
              2 * answer->pairs};
  }
}

Judgement torchbench_judges(Samples& samples, double ratio) {
  auto const [before, after] = samples.next(ratio);
  return {after / before - 1 > 0.07, false, 2};
}

Judgement pinpoint_judges(Samples& samples, double ratio) {
  Sides sides;
  for (std::size_t attempts = 10; attempts <= 160; attempts *= 2) {
    sides.measure(samples, ratio, attempts);
    if (std::min(mann_whitney(sides), kolmogorov_smirnov(sides)) <= 0.01)
      return {slower(sides), false, sides.processes()};
  }
  return {false, false, sides.processes()};
}

Judgement benchstat_judges(Samples& samples, double ratio) {
  Sides sides;
  sides.measure(samples, ratio, 10);
  return {mann_whitney(sides) < 0.05 && slower(sides), false, sides.processes()};
}

Judgement welch_judges(Samples& samples, double ratio) {
  Sides sides;
  sides.measure(samples, ratio, 10);
  return {welch(sides) < 0.05 && slower(sides), false, sides.processes()};
}

}  // namespace

std::vector<Judge> judges() {
  return {{"torchwatch", torchwatch_judges},
          {"TorchBench", torchbench_judges},
          {"Pinpoint", pinpoint_judges},
          {"benchstat", benchstat_judges},
          {"t test", welch_judges}};
}

}  // namespace torchwatch::bench
