#include "bisect/compare/change_point.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <boost/math/distributions/students_t.hpp>

#include "bisect/compare/segmentation.h"
#include "bisect/compare/statistics.h"

namespace torchwatch::bisect {
namespace {

using Values = std::span<double const>;

/// A value farther from its level than this many standard deviations is an outlier.
constexpr double outlier_reach = 3;

/// Standard deviation of a normal sample, relative to the median distance from its median.
constexpr double of_normal = 1.4826;

/// The noise of a history.
struct Noise {
  double deviation = 0;  ///< standard deviation of one value, from that of the mean of many
  double outlier = 0;    ///< square root of the most that a value costs, see `segmentation`
};

struct Stretch {
  std::size_t begin = 0;
  std::size_t end = 0;
  double level = 0;

  double size() const { return static_cast<double>(end - begin); }
};

/// The cost that a change point must save, in squared standard deviations. From simulation of flat
/// histories from 10 to 10,000 values long, with normal and Student t(3) noise and with outliers.
double penalty(std::size_t count) {
  return 13 + 2 * std::log(static_cast<double>(count));
}

/// Square root of the cost of an outlier: twice the logarithm of the odds against it. At most so
/// much that five outliers cost less than the two change points of a visit.
double outlier_of(double outliers, std::size_t count) {
  double const highest = std::min(outlier_reach * outlier_reach, 2 * penalty(count) / 5.01);
  constexpr double lowest = 1;
  double const share = outliers / static_cast<double>(count);
  if (share <= 0) return std::sqrt(highest);
  return std::sqrt(std::clamp(2 * std::log((1 - share) / share), lowest, highest));
}

/// The smallest difference between two values that is larger than their rounding. Infinite when all
/// values are equal.
double grain_of(Values values) {
  std::vector<double> sorted{values.begin(), values.end()};
  std::ranges::sort(sorted);
  std::vector<double> sizes;
  for (double const value : values)
    sizes.push_back(std::abs(value));
  double const rounding = 1e-9 * median(std::move(sizes));
  double grain = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    double const gap = sorted[i] - sorted[i - 1];
    if (gap > rounding) grain = std::min(grain, gap);
  }
  return grain;
}

/// The least noise that the history can have. Up to half of the differences between neighbours may
/// have any size.
Noise least_noise(Values values, double grain) {
  std::vector<double> distances;
  for (std::size_t i = 1; i < values.size(); ++i)
    distances.push_back(std::abs(values[i] - values[i - 1]));
  double const typical = of_normal * median(std::move(distances)) / std::numbers::sqrt2;
  // Few differences determine the usual one poorly.
  double const careful = typical * (1 + 4 / static_cast<double>(values.size()));
  return {std::max(careful, grain / outlier_reach), outlier_of(0, values.size())};
}

/// The value that at least nine of ten values equal, else the mean of the values within `near` of
/// the median.
double level_of(Values values, double near) {
  double const middle = median({values.begin(), values.end()});
  auto const alike = std::ranges::count(values, middle);
  if (10 * alike >= 9 * std::ssize(values)) return middle;
  double sum = 0;
  double count = 0;
  for (double const value : values) {
    if (!(std::abs(value - middle) <= near)) continue;
    sum += value - middle;
    ++count;
  }
  return count > 0 ? middle + sum / count : middle;
}

std::vector<Stretch> stretches_of(Values values, Noise const& noise, double grain) {
  std::vector<double> scaled;
  for (double const value : values)
    scaled.push_back(value / noise.deviation);
  auto cuts = segmentation(scaled, penalty(values.size()), noise.outlier);
  cuts.push_back(values.size());
  double const near = outlier_reach * std::max(noise.deviation, grain);
  std::vector<Stretch> stretches;
  std::size_t begin = 0;
  for (auto const end : cuts) {
    stretches.push_back({begin, end, level_of(values.subspan(begin, end - begin), near)});
    begin = end;
  }
  return stretches;
}

/// The values of a history minus their levels.
class Rest {
 public:
  /// Values within `outlier_reach` times the usual distance, or times `noise`, are not outliers.
  Rest(Values values, std::vector<Stretch> const& stretches, double noise) : stretches_{stretches} {
    for (auto const& stretch : stretches)
      for (std::size_t i = stretch.begin; i < stretch.end; ++i)
        rest_.push_back(values[i] - stretch.level);
    std::vector<double> distances;
    for (double const one : rest_)
      distances.push_back(std::abs(one));
    double const typical = std::max(noise, of_normal * median(std::move(distances)));
    for (double& one : rest_) {
      if (!(std::abs(one) <= outlier_reach * typical)) {
        one = 0;
        ++outliers_;
      }
      squares_ += one * one;
    }
  }

  Noise noise() const {
    // Levels follow the noise a little, so the remainder is smaller than the noise.
    constexpr double careful = 1.1;
    double const free = count() - outliers_ - static_cast<double>(stretches_.size());
    double const variance = squares_ / std::max(1.0, free) * long_run();
    return {careful * std::sqrt(variance), outlier_of(outliers_, rest_.size())};
  }

 private:
  double count() const { return static_cast<double>(rest_.size()); }

  /// The sum of the products of values that are `lag` apart in one stretch.
  double products(std::size_t lag) const {
    double sum = 0;
    for (auto const& stretch : stretches_)
      for (std::size_t i = stretch.begin; i + lag < stretch.end; ++i)
        sum += rest_[i] * rest_[i + lag];
    return sum;
  }

  double correlation(std::size_t lag) const { return products(lag) / squares_; }

  /// The long-run variance, that of the mean of many values, relative to the variance of a value.
  double long_run() const {
    if (squares_ <= 0) return 1;
    return std::max({1.0, by_neighbours(), by_sum()});
  }

  /// The long-run factor of an autoregressive series of first order. Taking out the mean lowers the
  /// correlation of neighbours; this corrects it (Marriott and Pope 1954).
  double by_neighbours() const {
    double const seen = correlation(1);
    double const alike = seen + (1 + 3 * seen) / mean_length();
    double const bounded = std::clamp(alike, 0.0, 0.98);
    return (1 + bounded) / (1 - bounded);
  }

  /// The long-run factor from the correlations with Bartlett's weights. It also covers a wandering
  /// pace below an independent noise.
  double by_sum() const {
    constexpr double farthest = 20;
    double const lags = std::floor(std::min(farthest, mean_length() / 4));
    double sum = 1;
    for (double lag = 1; lag <= lags; ++lag)
      sum += 2 * (1 - lag / (lags + 1)) * correlation(static_cast<std::size_t>(lag));
    return sum;
  }

  double mean_length() const { return count() / static_cast<double>(stretches_.size()); }

  std::vector<Stretch> const& stretches_;
  std::vector<double> rest_;  ///< 0 for outliers
  double outliers_ = 0;
  double squares_ = 0;
};

/// Levels and noise that agree with each other.
struct Agreement {
  std::vector<Stretch> stretches;
  Noise noise;        ///< the noise that the levels stand out of
  double spread = 0;  ///< the noise that remains without the levels; 0 where nights repeat exactly
};

bool agree(Noise const& noise, Noise const& seen) {
  return seen.deviation <= 1.01 * noise.deviation && std::abs(seen.outlier - noise.outlier) < 0.05;
}

Agreement agreement_of(Values values) {
  double const grain = grain_of(values);
  Agreement found;
  found.noise = least_noise(values, grain);
  if (!std::isnormal(found.noise.deviation)) return found;
  constexpr int most_rounds = 20;  // more than five are rare
  for (int round = 0; round < most_rounds; ++round) {
    found.stretches = stretches_of(values, found.noise, grain);
    if (found.stretches.size() == 1) break;
    Rest const rest{values, found.stretches, std::max(found.noise.deviation, grain)};
    auto const seen = rest.noise();
    found.spread = seen.deviation;
    if (agree(found.noise, seen)) break;
    found.noise = {std::max(found.noise.deviation, seen.deviation), seen.outlier};
  }
  return found;
}

double cost(double value, double level, Noise const& noise) {
  double const distance = (value - level) / noise.deviation;
  return std::min(distance * distance, noise.outlier * noise.outlier);
}

/// Sets the place of the change and its interval, given both levels.
void set_place(ChangePoint& point,
               Values values,
               Stretch const& left,
               Stretch const& right,
               Noise const& noise) {
  point.at = point.earliest = point.latest = right.begin;
  double const refuted = 2 * std::log(2 / change_point_error);
  double loss = 0;  // twice the log likelihood ratio against a change that is moved to `at`
  for (std::size_t at = right.begin; at > left.begin + 1 && loss < refuted;) {
    --at;
    loss += cost(values[at], right.level, noise) - cost(values[at], left.level, noise);
    if (loss < refuted) point.earliest = at;
  }
  loss = 0;
  for (std::size_t at = right.begin; at + 1 < right.end && loss < refuted;) {
    loss += cost(values[at], left.level, noise) - cost(values[at], right.level, noise);
    ++at;
    if (loss < refuted) point.latest = at;
  }
}

void set_change(ChangePoint& point, Stretch const& left, Stretch const& right, double spread) {
  point.change = right.level - left.level;
  double const error = spread * std::sqrt(1 / left.size() + 1 / right.size());
  boost::math::students_t const student{std::max(1.0, left.size() + right.size() - 2)};
  double const width = error * boost::math::quantile(complement(student, change_point_error / 2));
  point.low = point.change - width;
  point.high = point.change + width;
}

std::vector<ChangePoint> points_of(Values values) {
  if (values.size() < least_history) return {};
  auto const [stretches, noise, spread] = agreement_of(values);
  std::vector<ChangePoint> points;
  for (std::size_t i = 1; i < stretches.size(); ++i) {
    auto& point = points.emplace_back();
    set_place(point, values, stretches[i - 1], stretches[i], noise);
    set_change(point, stretches[i - 1], stretches[i], spread);
  }
  return points;
}

}  // namespace

std::vector<ChangePoint> change_points(std::span<double const> history) {
  std::vector<double> values;
  std::vector<std::size_t> nights;
  for (std::size_t night = 0; night < history.size(); ++night) {
    if (!std::isfinite(history[night])) continue;
    values.push_back(history[night]);
    nights.push_back(night);
  }
  auto points = points_of(values);
  for (auto& point : points) {
    point.at = nights[point.at];
    point.earliest = nights[point.earliest];
    point.latest = nights[point.latest];
  }
  return points;
}

}  // namespace torchwatch::bisect
