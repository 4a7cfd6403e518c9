#include "bisect/change_point.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <boost/math/distributions/students_t.hpp>

#include "bisect/median.h"
#include "bisect/segmentation.h"

namespace torchwatch::bisect {
namespace {

/// A value farther from its level than this many standard deviations is a stray.
constexpr double outlier = 3;

/// What a change point must save, in squared standard deviations. Found by simulation of flat
/// histories from 10 to 10,000 values long, with normal and Student t(3) noise and with strays.
double penalty(std::size_t count) {
  return 13 + 2 * std::log(static_cast<double>(count));
}

/// Standard deviation of one value, from the differences of means of neighbouring blocks of
/// `length` values. Half of the differences may be anything.
double noise_between_blocks(std::span<double const> values, std::size_t length) {
  std::vector<double> means;
  for (std::size_t begin = 0; begin + length <= values.size(); begin += length) {
    double sum = 0;
    for (auto const value : values.subspan(begin, length))
      sum += value;
    means.push_back(sum / static_cast<double>(length));
  }
  std::vector<double> distances;
  for (std::size_t i = 1; i < means.size(); ++i)
    distances.push_back(std::abs(means[i] - means[i - 1]));
  constexpr double of_normal = 1.4826;  // median distance to standard deviation
  return of_normal * median(std::move(distances)) * std::sqrt(static_cast<double>(length) / 2);
}

double noise_of(std::span<double const> values) {
  constexpr std::size_t length = 5;
  constexpr std::size_t enough_blocks = 12;
  double noise = noise_between_blocks(values, 1);
  if (noise > 0 && values.size() >= length * enough_blocks)
    noise = std::max(noise, noise_between_blocks(values, length));
  // Few differences say little about what is usual.
  return noise * (1 + 4 / static_cast<double>(values.size()));
}

struct Stretch {
  std::size_t begin = 0;
  std::size_t end = 0;
  double level = 0;

  double size() const { return static_cast<double>(end - begin); }
};

std::vector<Stretch> stretches_of(std::span<double const> history,
                                  std::vector<std::size_t> const& cuts) {
  std::vector<Stretch> stretches;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= cuts.size(); ++i) {
    std::size_t const end = i < cuts.size() ? cuts[i] : history.size();
    auto const values = history.subspan(begin, end - begin);
    stretches.push_back({begin, end, median({values.begin(), values.end()})});
    begin = end;
  }
  return stretches;
}

double cost(double value, double level, double noise) {
  double const distance = (value - level) / noise;
  return std::min(distance * distance, outlier * outlier);
}

/// How far the change may have been from `left`'s end, given both levels.
void set_place(ChangePoint& point,
               std::span<double const> history,
               Stretch const& left,
               Stretch const& right,
               double noise) {
  point.at = point.earliest = point.latest = right.begin;
  double const refuted = 2 * std::log(2 / change_point_error);
  double loss = 0;  // of moving the change, twice a log likelihood ratio
  for (std::size_t at = right.begin; at > left.begin + 1 && loss < refuted;) {
    --at;
    loss += cost(history[at], right.level, noise) - cost(history[at], left.level, noise);
    if (loss < refuted) point.earliest = at;
  }
  loss = 0;
  for (std::size_t at = right.begin; at + 1 < right.end && loss < refuted;) {
    loss += cost(history[at], left.level, noise) - cost(history[at], right.level, noise);
    ++at;
    if (loss < refuted) point.latest = at;
  }
}

void set_change(ChangePoint& point, Stretch const& left, Stretch const& right, double noise) {
  point.change = right.level - left.level;
  double const median_to_mean = std::sqrt(std::numbers::pi / 2);
  double const error = median_to_mean * noise * std::sqrt(1 / left.size() + 1 / right.size());
  boost::math::students_t const student{std::max(1.0, left.size() + right.size() - 2)};
  double const reach = error * boost::math::quantile(complement(student, change_point_error / 2));
  point.low = point.change - reach;
  point.high = point.change + reach;
}

/// Every value that is not like the one before it.
std::vector<std::size_t> exact_cuts(std::span<double const> history) {
  std::vector<std::size_t> cuts;
  for (std::size_t i = 1; i < history.size(); ++i)
    if (history[i] != history[i - 1]) cuts.push_back(i);
  return cuts;
}

std::vector<std::size_t> noisy_cuts(std::span<double const> history, double noise) {
  double const middle = median({history.begin(), history.end()});
  std::vector<double> scaled;
  for (double const value : history)
    scaled.push_back((value - middle) / noise);
  return segmentation(scaled, penalty(history.size()), outlier);
}

}  // namespace

std::vector<ChangePoint> change_points(std::span<double const> history) {
  if (history.size() < least_history) return {};
  double const noise = noise_of(history);
  auto const cuts = noise > 0 ? noisy_cuts(history, noise) : exact_cuts(history);
  auto const stretches = stretches_of(history, cuts);
  std::vector<ChangePoint> points;
  for (std::size_t i = 1; i < stretches.size(); ++i) {
    auto& point = points.emplace_back();
    if (noise > 0) {
      set_place(point, history, stretches[i - 1], stretches[i], noise);
      set_change(point, stretches[i - 1], stretches[i], noise);
    } else {
      point.at = point.earliest = point.latest = stretches[i].begin;
      point.change = point.low = point.high = stretches[i].level - stretches[i - 1].level;
    }
  }
  return points;
}

}  // namespace torchwatch::bisect
