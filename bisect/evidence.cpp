#include "bisect/evidence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>

#include "bisect/median.h"

namespace torchwatch::bisect {
namespace {

/// Effects, in standard deviations of a change, that the bets on signs are best at.
constexpr std::array effects{0.25, 0.5, 1.0, 2.0};

/// Pairs that the usual noise counts for.
constexpr double usual_weight = 3;

/// log((1 + tanh x))
double log_factor(double x) {
  // 1 + tanh x = 2 / (1 + exp(-2x)), without overflow on either side.
  return std::numbers::ln2 -
         (x > 0 ? std::log1p(std::exp(-2 * x)) : std::log1p(std::exp(2 * x)) - 2 * x);
}

double log_mean_exp(std::span<double const> logarithms) {
  double const most = std::ranges::max(logarithms);
  double sum = 0;
  for (double const one : logarithms)
    sum += std::exp(one - most);
  return most + std::log(sum / static_cast<double>(logarithms.size()));
}

double mean(std::vector<double> const& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double sum_of_squares(std::vector<double> const& values) {
  double const middle = mean(values);
  double sum = 0;
  for (double const value : values)
    sum += (value - middle) * (value - middle);
  return sum;
}

}  // namespace

void Evidence::add(double before, double after) {
  scales_.push_back(next_scale());
  before_.push_back(before);
  after_.push_back(after);
  changes_.push_back(after - before);
}

/// Spread of the changes so far, robust against strays and pulled towards the usual noise.
double Evidence::next_scale() const {
  auto const count = static_cast<double>(changes_.size());
  if (count < 2) return usual_noise_;
  double const middle = median(changes_);
  std::vector<double> distances;
  for (double const change : changes_)
    distances.push_back(std::abs(change - middle));
  // Of normal changes this is the standard deviation; few pairs understate it.
  double const spread = 1.4826 * median(std::move(distances)) * (count < 4 ? 1.3 : 1.1);
  double const own_weight = count - 1;
  return std::sqrt((usual_weight * usual_noise_ * usual_noise_ + own_weight * spread * spread) /
                   (usual_weight + own_weight));
}

double Evidence::log_signs(double change, double direction) const {
  std::array<double, effects.size()> stakes{};
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    double const above = direction * (changes_[i] - change) / scales_[i];
    for (std::size_t k = 0; k < effects.size(); ++k)
      stakes[k] += log_factor(effects[k] * above);
  }
  return log_mean_exp(stakes);
}

double Evidence::log_student(double change, double direction) const {
  auto const count = static_cast<double>(changes_.size());
  if (count < 2) return 0;
  double const prior = count / 2;  // variance 1 on the effect, at the effective sample size n / 2
  double const above = direction * (mean(changes_) - change);
  double const stake_of_no_effect = -0.5 * std::log1p(prior);
  if (above <= 0) return stake_of_no_effect;
  double const residual = sum_of_squares(before_) + sum_of_squares(after_);
  double const effect = prior * above * above / residual;  // t^2 / nu
  double const gain = std::isinf(effect) ? 1 + prior : (1 + effect) / (1 + effect / (1 + prior));
  return stake_of_no_effect + (count - 0.5) * std::log(gain);  // (nu + 1) / 2 = n - 1/2
}

double Evidence::log_bet(double change, double direction) const {
  std::array const both{log_signs(change, direction), log_student(change, direction)};
  return log_mean_exp(both);
}

double Evidence::log_above(double change) const {
  return log_bet(change, 1);
}

double Evidence::log_below(double change) const {
  return log_bet(change, -1);
}

/// The change, going from the estimate against `direction`, from which on the bet is won.
double Evidence::bound(double error, double direction) const {
  double const enough = std::log(2 / error);  // half the error for each side
  double inside = change();
  // Farther than this nothing is told apart: a million times, or a million times the noise.
  double const farthest = std::max(std::log(1e6), 1e6 * usual_noise_);
  double step = usual_noise_;
  while (!(log_bet(inside - direction * step, direction) >= enough)) {
    step *= 2;
    if (step > farthest) return -direction * HUGE_VAL;
  }
  double outside = inside - direction * step;
  constexpr int halvings = 50;
  for (int i = 0; i < halvings; ++i) {
    double const middle = (inside + outside) / 2;
    (log_bet(middle, direction) >= enough ? outside : inside) = middle;
  }
  return outside;
}

Evidence::Interval Evidence::interval(double error) const {
  return {bound(error, 1), bound(error, -1)};
}

double Evidence::change() const {
  std::vector<double> means;
  for (std::size_t i = 0; i < changes_.size(); ++i)
    for (std::size_t j = i; j < changes_.size(); ++j)
      means.push_back((changes_[i] + changes_[j]) / 2);
  return median(std::move(means));
}

double Evidence::typical_change() const {
  return median(changes_);
}

double Evidence::level() const {
  return median(before_);
}

}  // namespace torchwatch::bisect
