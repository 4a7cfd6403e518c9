#include "bisect/search/scale.h"

#include <algorithm>
#include <cmath>

#include "bisect/compare/cost.h"

namespace torchwatch::bisect {

namespace {

/// The expected noise of deterministic metrics.
constexpr double exact_noise = 1e-3;

/// The logarithmic level of a value of zero is that of this value.
constexpr double least_value = 1e-6;

}  // namespace

Scale::Scale(Metric metric, double threshold, config::DecideOptions const& options)
    : metric_{metric},
      threshold_{std::log1p(threshold_of(metric, threshold))},
      unit_{std::max(tolerance(0, metric, options), 1.0) / threshold_} {}

double Scale::level(double value) const {
  constexpr double page = 4096;
  if (metric_ == Metric::leak) return value / unit_;
  bool const is_memory = metric_ == Metric::cmem || metric_ == Metric::gmem;
  if (is_memory && value >= 0) return std::log(std::max(value, page));
  return std::log(cost_of(value == 0 ? least_value : value, metric_));
}

double Scale::value(double level) const {
  return metric_ == Metric::leak ? level * unit_ : cost_of(std::exp(level), metric_);
}

Expectation Scale::expectation(Direction direction) const {
  Expectation expectation;
  expectation.least = threshold_ * 2 / 3;
  expectation.direction = direction;
  if (!is_deterministic(metric_)) return expectation;
  expectation.noise = exact_noise;
  expectation.degrees = 1;        // the first readings correct it
  expectation.builds_differ = 0;  // links and alignment do not change memory
  return expectation;
}

Expectation Scale::rest(double total) const {
  auto rest = expectation(Direction::both);
  rest.no_change = 0.8;
  rest.least = std::clamp(std::abs(total) / 4, threshold_ / 2, threshold_);
  rest.excess /= 2;
  rest.builds_differ /= 6;  // the proof did not show it
  return rest;
}

}  // namespace torchwatch::bisect
