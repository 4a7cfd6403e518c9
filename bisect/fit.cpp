#include "bisect/fit.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace torchwatch::bisect {

namespace {

/// Degrees of freedom of a reading's deviation: some processes go astray.
constexpr double tails = 5;

/// Solves a * x = b for a symmetric positive definite matrix of `size` rows in place, and returns
/// the logarithm of its determinant; nothing if it has none.
std::optional<double> solve(std::array<Parameters, std::tuple_size_v<Parameters>>& a,
                            Parameters& b,
                            std::size_t size) {
  double log_determinant = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (a[i][i] < 1e-9) return std::nullopt;
    log_determinant += std::log(a[i][i]);
    for (auto row = i + 1; row < size; ++row) {
      double const factor = a[row][i] / a[i][i];
      for (auto column = i; column < size; ++column)
        a[row][column] -= factor * a[i][column];
      b[row] -= factor * b[i];
    }
  }
  for (auto i = size; i-- > 0;) {
    for (auto column = i + 1; column < size; ++column)
      b[i] -= a[i][column] * b[column];
    b[i] /= a[i][i];
  }
  return log_determinant;
}

/// std::lgamma keeps the sign in a global variable.
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

}  // namespace

/// Weighted least squares with what rounds have in common taken out.
std::optional<double> Fitter::solve_weighted(std::span<std::size_t const> gaps,
                                             Parameters& parameters) {
  auto const size = gaps.size() + 1;
  std::array<Parameters, std::tuple_size_v<Parameters>> products{};
  Parameters levels{};
  sums_.assign(rounds_, {});
  for (std::size_t i = 0; i < values_.size(); ++i) {
    auto& round = sums_[values_[i].round];
    round.weight += weights_[i];
    round.levels += weights_[i] * values_[i].level;
    for (std::size_t row = 0; row < size; ++row) {
      double const x = weights_[i] * column(values_[i], gaps, row);
      round.columns[row] += x;
      levels[row] += x * values_[i].level;
      for (std::size_t other = 0; other < size; ++other)
        products[row][other] += x * column(values_[i], gaps, other);
    }
  }
  for (auto const& round : sums_) {
    double const share = drift_ / (1 + round.weight * drift_);
    for (std::size_t row = 0; row < size; ++row) {
      levels[row] -= share * round.columns[row] * round.levels;
      for (std::size_t other = 0; other < size; ++other)
        products[row][other] -= share * round.columns[row] * round.columns[other];
    }
  }
  step_share_ = products[0][size - 1] / products[0][0];
  parameters = levels;
  auto const log_determinant = solve(products, parameters, size);
  step_information_ = products[size - 1][size - 1];
  return log_determinant;
}

/// Deviations of the readings; returns their weighted squares, those of the rounds included.
double Fitter::spread(std::span<std::size_t const> gaps, Parameters const& parameters) {
  double squares = 0;
  for (auto& round : sums_) {
    double left = round.levels;
    for (std::size_t i = 0; i <= gaps.size(); ++i)
      left -= parameters[i] * round.columns[i];
    round.shared = drift_ * left / (1 + drift_ * round.weight);
    if (drift_ > 0) squares += round.shared * round.shared / drift_;
  }
  for (std::size_t i = 0; i < values_.size(); ++i) {
    deviations_[i] = values_[i].level - sums_[values_[i].round].shared;
    for (std::size_t at = 0; at <= gaps.size(); ++at)
      deviations_[i] -= parameters[at] * column(values_[i], gaps, at);
    squares += weights_[i] * deviations_[i] * deviations_[i];
  }
  return squares;
}

Fit Fitter::fit(std::span<std::size_t const> gaps) {
  constexpr int passes = 4;
  constexpr double log_two_pi = 1.8378770664093453;
  auto const count = static_cast<double>(values_.size());
  auto const size = static_cast<double>(gaps.size()) + 1;
  double const degrees = expectation_.degrees + count - size;
  double const prior_squares = expectation_.degrees * expectation_.noise * expectation_.noise;
  std::ranges::fill(weights_, 1);
  Fit fit;
  double log_determinant = 0;
  for (int pass = 0; pass < passes; ++pass) {
    auto const solved = solve_weighted(gaps, fit.parameters);
    if (!solved) return {};
    log_determinant = *solved;
    fit.variance = (prior_squares + spread(gaps, fit.parameters)) / degrees;
    for (std::size_t i = 0; i < values_.size(); ++i)
      weights_[i] = (tails + 1) / (tails + deviations_[i] * deviations_[i] / fit.variance);
  }
  double sum = 0;
  for (double const deviation : deviations_)
    sum -= (tails + 1) / 2 * std::log1p(deviation * deviation / tails / fit.variance);
  for (auto const& round : sums_) {
    sum -= std::log1p(round.weight * drift_) / 2;
    if (drift_ > 0) sum -= round.shared * round.shared / drift_ / fit.variance / 2;
  }
  // Weights tell how a reading pulls, not how firmly: that is (tails + 1) / (tails + 3) on average
  // (Lange, Little and Taylor), whatever the reading.
  double weight = 0;
  for (auto const& round : sums_)
    weight += round.weight;
  double const firmness = (tails + 1) / (tails + 3) * count / weight;
  log_determinant += size * std::log(firmness);
  step_information_ *= firmness;
  fit.log_evidence = sum - degrees / 2 * std::log(fit.variance) - prior_squares / fit.variance / 2 -
                     log_determinant / 2 + size * log_two_pi / 2;
  return fit;
}

Fit Fitter::fit_change(std::span<std::size_t const> gaps) {
  auto result = fit(gaps);
  // Nothing was read on one side of it.
  if (std::isinf(result.log_evidence)) return fit(gaps.first(gaps.size() - 1));
  double const degrees = expectation_.degrees + static_cast<double>(values_.size()) -
                         static_cast<double>(gaps.size()) - 1;
  double const deviation = std::sqrt(result.variance / step_information_);
  auto& last = result.parameters[gaps.size()];
  double const size = last;
  result.log_evidence += std::log(prior_of(size, deviation, degrees));
  last = likely(size);
  result.parameters[0] += step_share_ * (size - last);
  return result;
}

/// Expected density, a priori, of a size that is Student distributed around `size`.
double Fitter::prior_of(double size, double deviation, double degrees) const {
  auto const up = [&] {
    return integrate(size, deviation, degrees);
  };
  auto const down = [&] {
    return integrate(-size, deviation, degrees);
  };
  switch (expectation_.direction) {
    case Direction::increase:
      return up();
    case Direction::decrease:
      return down();
    case Direction::both:
      return (up() + down()) / 2;
  }
  return 0;
}

/// By Simpson's rule where prior and likelihood overlap.
double Fitter::integrate(double size, double deviation, double degrees) const {
  constexpr int intervals = 24;
  constexpr double deviations = 7;
  constexpr double excesses = 12;
  double const least = expectation_.least;
  double const excess = expectation_.excess;
  double const low = std::max(least, size - deviations * deviation);
  double const width = std::min(2 * deviations * deviation, excesses * excess + low - least);
  double sum = 0;
  for (int i = 0; i <= intervals; ++i) {
    double const at = low + width * i / intervals;
    double const growth = 1 + (at - least) / excess;
    double const t = (at - size) / deviation;
    bool const is_end = i == 0 || i == intervals;
    double const within = i % 2 == 1 ? 4 : 2;
    double const weight = is_end ? 1 : within;
    sum += weight * std::pow(1 + t * t / degrees, -(degrees + 1) / 2) / (growth * growth * growth);
  }
  double const student = std::exp(log_gamma((degrees + 1) / 2) - log_gamma(degrees / 2)) /
                         (std::sqrt(degrees * std::numbers::pi) * deviation);
  return std::max(2 / excess * student * sum * width / intervals / 3, 1e-300);
}

/// `size`, moved to where it may be.
double Fitter::likely(double size) const {
  double const least = expectation_.least;
  if (expectation_.direction == Direction::decrease ||
      (expectation_.direction == Direction::both && size < 0))
    return std::min(size, -least);
  return std::max(size, least);
}

}  // namespace torchwatch::bisect
