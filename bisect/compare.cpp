#include "bisect/compare.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <numeric>
#include <vector>

#include <boost/math/distributions/students_t.hpp>

namespace torchwatch::bisect {
namespace {

/// The pairs on the scale on which they are judged: logarithms, or the values themselves.
struct Sample {
  bool logarithmic = true;
  std::vector<double> before;
  std::vector<double> after;
  std::vector<double> change;  ///< after - before

  double to_scale(double value) const { return logarithmic ? std::log(value) : value; }

  double from_scale(double level) const { return logarithmic ? std::exp(level) : level; }
};

Sample sample_of(std::span<Pair const> pairs, bool logarithmic) {
  Sample sample;
  sample.logarithmic = logarithmic;
  for (auto const& pair : pairs) {
    sample.before.push_back(sample.to_scale(pair.before));
    sample.after.push_back(sample.to_scale(pair.after));
    sample.change.push_back(sample.after.back() - sample.before.back());
  }
  return sample;
}

bool have_logarithms(std::span<Pair const> pairs) {
  return std::ranges::all_of(pairs,
                             [](Pair const& pair) { return pair.before > 0 && pair.after > 0; });
}

/// Every process of a build gave the same value.
bool repeats_exactly(std::span<Pair const> pairs) {
  return std::ranges::all_of(pairs, [&](Pair const& pair) {
    return pair.before == pairs.front().before && pair.after == pairs.front().after;
  });
}

/// 1 for the first look, 2 for the second, ...; nothing when `count` pairs are between two looks.
/// Looks are a quarter apart: close enough to stop early, few enough to keep the error of each.
std::optional<int> look_at(int count, config::DecideOptions const& options) {
  int const last = std::max(2, options.max_pairs);
  int look = 1;
  int at = std::clamp(options.min_pairs, 2, last);
  while (at < count && at < last) {
    at = std::min(last, at + std::max(1, at / 4));
    ++look;
  }
  if (count < at) return std::nullopt;
  return look;
}

double mean(std::vector<double> const& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::vector<double> values) {
  // A total order, even if a value is no number.
  auto const less = [](double left, double right) {
    return std::strong_order(left, right) < 0;
  };
  auto const middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle, less);
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle, less)) / 2;
}

/// Squared standard error of the mean.
double squared_error(std::vector<double> const& values) {
  double const level = mean(values);
  double sum = 0;
  for (double const value : values) {
    sum += (value - level) * (value - level);
  }
  auto const count = static_cast<double>(values.size());
  return sum / (count - 1) / count;
}

double student(double degrees, double error) {
  return boost::math::quantile(
      boost::math::complement(boost::math::students_t(degrees), error / 2));
}

/// Half the width of an interval for the mean change that misses with probability `error`. It is
/// the narrower of two that miss with half of that: by pairs, which a drift of the host cannot
/// widen, and by builds (Welch), which has up to twice the degrees of freedom.
double half_width(Sample const& sample, double error) {
  auto const degrees = static_cast<double>(sample.change.size()) - 1;
  double const by_pair = squared_error(sample.change);
  if (by_pair == 0) return 0;
  double const before = squared_error(sample.before);
  double const after = squared_error(sample.after);
  double const by_build = before + after;
  double const welch = degrees * by_build * by_build / (before * before + after * after);
  if (!std::isfinite(by_pair) || !std::isfinite(welch)) return HUGE_VAL;
  return std::min(student(degrees, error / 2) * std::sqrt(by_pair),
                  student(welch, error / 2) * std::sqrt(by_build));
}

double floor_of(Metric metric, config::DecideOptions const& options) {
  switch (metric) {
    case Metric::latency:
      return options.latency_floor_ms;
    case Metric::cmem:
    case Metric::gmem:
      return static_cast<double>(options.memory_floor_bytes);
    case Metric::leak:
      return static_cast<double>(options.leak_floor_bytes);
  }
  return 0;
}

/// How much more or less than `before`, in the metric's unit, does not count yet.
double allowance(double before, double share, double floor) {
  return std::max(floor, share * std::abs(before));
}

struct Change {
  double mean = 0;
  double median = 0;
  double half_width = 0;
};

/// `low` and `high` bound the changes that do not count; all on the scale of the sample.
Verdict judge(Change const& change, double low, double high) {
  double const least = change.mean - change.half_width;
  double const most = change.mean + change.half_width;
  if (least > 0 && change.mean > high && change.median > high) return Verdict::regression;
  if (most < 0 && change.mean < low && change.median < low) return Verdict::improvement;
  if (least >= low && most <= high) return Verdict::unchanged;
  return Verdict::inconclusive;
}

/// What the pairs say when the half width of the interval is as given.
Comparison conclude(Sample const& sample, double half_width, double allowed_share, double floor) {
  double const level = mean(sample.before);
  Change const change{mean(sample.change), median(sample.change), half_width};
  auto const value_at = [&](double moved) {
    return sample.from_scale(level + moved);
  };

  Comparison comparison;
  comparison.before = value_at(0);
  comparison.after = value_at(change.mean);
  double const allowed = allowance(comparison.before, allowed_share, floor);
  double const least = comparison.before - allowed;
  double const low = sample.to_scale(sample.logarithmic ? std::max(0.0, least) : least) - level;
  double const high = sample.to_scale(comparison.before + allowed) - level;
  comparison.verdict = judge(change, low, high);
  if (comparison.before > 0) {
    auto const ratio_at = [&](double moved) {
      return value_at(moved) / comparison.before;
    };
    comparison.ratio = RatioInterval{.ratio = ratio_at(change.mean),
                                     .low = ratio_at(change.mean - half_width),
                                     .high = ratio_at(change.mean + half_width)};
  }
  comparison.pairs = static_cast<int>(sample.change.size());
  return comparison;
}

}  // namespace

std::optional<Comparison> compare(std::span<Pair const> pairs,
                                  Metric metric,
                                  config::DecideOptions const& options) {
  if (pairs.empty()) return std::nullopt;
  double const floor = floor_of(metric, options);
  if (is_deterministic(metric) && repeats_exactly(pairs)) {
    return conclude(sample_of(pairs, false), 0, options.threshold, floor);
  }

  auto const count = static_cast<int>(pairs.size());
  auto const look = look_at(count, options);
  if (!look) return std::nullopt;
  auto const sample = sample_of(pairs, have_logarithms(pairs));
  // The shares of all looks, 1/2 + 1/6 + 1/12 + ..., sum to one.
  double const error = options.error / (*look * (*look + 1.0));
  auto comparison = conclude(sample, half_width(sample, error), options.threshold, floor);
  comparison.error_bound = options.error;
  bool const spent = count >= options.max_pairs;
  if (comparison.verdict == Verdict::inconclusive && !spent) return std::nullopt;
  return comparison;
}

bool screen(double before, double after, Metric metric, config::DecideOptions const& options) {
  return after - before > allowance(before, options.screen, floor_of(metric, options));
}

}  // namespace torchwatch::bisect
