#include "bisect/fleet_noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace torchwatch::bisect {
namespace {

/// How many degrees a fleet may count for.
constexpr std::array degrees_tried{
    0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 64.0};

/// Log likelihoods that differ by less do not tell two explanations apart.
constexpr double likelihood_margin = 2;

/// Of a relative change: a part in a million. What repeats exactly is not known better.
constexpr double least_variance = 1e-12;

/// A fleet's variances, if they spread by `degrees` about `variance`.
struct SpreadFit {
  double degrees = 0;
  double variance = 0;
  double log_likelihood = 0;
};

std::vector<Spread> known_of(std::span<Spread const> fleet) {
  std::vector<Spread> known;
  for (auto const& [squares, degrees] : fleet)
    if (degrees > 0 && std::isfinite(squares))
      known.push_back({std::max(squares, degrees * least_variance), degrees});
  return known;
}

/// Positive while a larger variance explains the fleet better.
double slope(std::span<Spread const> fleet, double degrees, double variance) {
  double slope = 0;
  for (auto const& one : fleet) {
    double const excess = one.squares / (degrees * variance);
    slope += (one.degrees + degrees) * excess / (1 + excess) - one.degrees;
  }
  return slope;
}

double likeliest_variance(std::span<Spread const> fleet, double degrees) {
  constexpr int halvings = 50;
  double low = std::log(least_variance) - 10;
  double high = 700;
  for (int i = 0; i < halvings; ++i) {
    double const middle = (low + high) / 2;
    (slope(fleet, degrees, std::exp(middle)) > 0 ? low : high) = middle;
  }
  return std::exp((low + high) / 2);
}

/// But for what depends on the fleet alone.
double log_likelihood(std::span<Spread const> fleet, double degrees, double variance) {
  double sum = 0;
  for (auto const& one : fleet)
    sum += std::lgamma((one.degrees + degrees) / 2) - std::lgamma(degrees / 2) -
           one.degrees / 2 * std::log(degrees * variance) -
           (one.degrees + degrees) / 2 * std::log1p(one.squares / (degrees * variance));
  return sum;
}

}  // namespace

Spread usual_spread(std::span<Spread const> fleet) {
  auto const known = known_of(fleet);
  if (known.empty()) return {};
  std::vector<SpreadFit> fits;
  for (double const degrees : degrees_tried) {
    double const variance = likeliest_variance(known, degrees);
    fits.push_back({degrees, variance, log_likelihood(known, degrees, variance)});
  }
  double const best = std::ranges::max(fits, {}, &SpreadFit::log_likelihood).log_likelihood;
  auto const least = std::ranges::find_if(
      fits, [&](SpreadFit const& fit) { return fit.log_likelihood >= best - likelihood_margin; });
  return {least->degrees * least->variance, least->degrees};
}

}  // namespace torchwatch::bisect
