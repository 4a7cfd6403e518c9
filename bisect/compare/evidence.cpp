#include "bisect/compare/evidence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>

#include "bisect/compare/statistics.h"

namespace torchwatch::bisect {
namespace {

/// Effects, in standard deviations of a change, for which the bets on signs are best.
constexpr std::array bet_effects{0.25, 0.5, 1.0, 2.0};

/// Shares of the e-value that the bets on signs risk with each pair. A bet that risks all needs the
/// fewest pairs, but a single outlier wipes it out.
constexpr std::array risks{1.0, 0.9, 0.6};

/// The sign test puts most of its e-value on clear changes that all have one sign.
constexpr double clear_effect = 2;
constexpr double clear_share = 0.9;

/// The e-value of a bet may exceed that of the signs by at most this factor.
constexpr double most_help_of_t = 50;

/// The factor by which squares of differences may exceed those of their processes by chance.
constexpr double most_by_chance = 1.25;

/// Variance of the standardised effect that Student's bet expects.
constexpr double effect_variance = 4;

/// The number of pairs that the usual noise counts for.
constexpr double usual_weight = 3;

/// The direction of a bet on signs, from -1 to 1; 0 when `x` is not a number.
double lean_of(double x) {
  return std::isnan(x) ? 0 : std::tanh(x);
}

/// A product of many factors between 0 and 2 that seldom computes a logarithm.
class Product {
 public:
  void times(double factor) {
    product_ *= factor;
    if (product_ > 1e-100 && product_ < 1e100) return;
    logarithm_ += std::log(product_);
    product_ = 1;
  }

  double logarithm() const { return logarithm_ + std::log(product_); }

 private:
  double product_ = 1;
  double logarithm_ = 0;
};

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

Evidence::Evidence(double usual_noise)
    : usual_noise_{std::isfinite(usual_noise)
                       ? std::max(usual_noise, std::numeric_limits<double>::epsilon())
                       : 1} {}

void Evidence::add(double before, double after) {
  double const change = after - before;
  if (!std::isfinite(before) || !std::isfinite(after) || !std::isfinite(change)) return;
  scales_.push_back(next_scale());
  before_.push_back(before);
  after_.push_back(after);
  changes_.push_back(change);
}

/// Spread of the changes so far, robust against outliers and pulled towards the usual noise.
double Evidence::next_scale() const {
  auto const count = static_cast<double>(changes_.size());
  if (count < 2) return usual_noise_;
  double const own = spread(changes_) * (count < 4 ? 1.3 : 1.1);  // few pairs understate it
  double const own_weight = count - 1;
  return std::sqrt((usual_weight * usual_noise_ * usual_noise_ + own_weight * own * own) /
                   (usual_weight + own_weight));
}

double Evidence::log_signs(double change, double direction) const {
  std::array<Product, bet_effects.size() * risks.size()> e_values;
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    double const above = direction * (changes_[i] - change) / scales_[i];
    auto* e_value = e_values.begin();
    for (double const effect : bet_effects) {
      double const lean = lean_of(effect * above);
      for (double const risk : risks)
        e_value++->times(1 + risk * lean);
    }
  }
  std::array<double, e_values.size()> logarithms{};
  std::ranges::transform(e_values, logarithms.begin(), &Product::logarithm);
  return log_mean_exp(logarithms);
}

double Evidence::log_sign_test(double direction) const {
  double clear = std::log(clear_share);
  for (std::size_t i = 0; i < changes_.size(); ++i)
    clear += std::log1p(lean_of(clear_effect * direction * changes_[i] / scales_[i]));
  std::array const both{clear, std::log(1 - clear_share) + log_signs(0, direction)};
  return std::numbers::ln2 + log_mean_exp(both);
}

/// Sum of squares about the levels of both builds. About the change instead, if that is larger than
/// by chance: the processes of a pair are then negatively correlated.
double Evidence::residual() const {
  return std::max(sum_of_squares(before_) + sum_of_squares(after_),
                  sum_of_squares(changes_) / most_by_chance);
}

double Evidence::log_student(double change, double direction) const {
  auto const count = static_cast<double>(changes_.size());
  if (count < 2) return 0;
  double const effective = count / 2;
  double const prior = effect_variance * effective;
  double const above = direction * (mean(changes_) - change);
  double const e_value_of_no_effect = -0.5 * std::log1p(prior);
  if (!(above > 0)) return e_value_of_no_effect;
  double const effect = effective * above * above / residual();  // t^2 / nu
  if (std::isnan(effect)) return e_value_of_no_effect;
  double const gain = std::isinf(effect) ? 1 + prior : (1 + effect) / (1 + effect / (1 + prior));
  return e_value_of_no_effect + (count - 0.5) * std::log(gain);  // (nu + 1) / 2 = n - 1/2
}

double Evidence::log_bet(double change, double direction) const {
  double const signs = log_signs(change, direction);
  std::array const both{signs, log_student(change, direction)};
  return std::min(log_mean_exp(both), signs + std::log(most_help_of_t));
}

double Evidence::log_above(double change) const {
  return log_bet(change, 1);
}

double Evidence::log_below(double change) const {
  return log_bet(change, -1);
}

double Evidence::log_sign_test_above() const {
  return log_sign_test(1);
}

double Evidence::log_sign_test_below() const {
  return log_sign_test(-1);
}

/// The change at which the bet's e-value becomes large enough, going from the estimate against
/// `direction`.
double Evidence::bound(double error, double direction) const {
  double const enough = std::log(2 / error);  // half the error for each side
  double inside = change();
  double step = usual_noise_;
  // The search ends at a factor of a million, or at a million times the noise.
  double const farthest =
      std::min(std::max(std::log(1e6), 1e6 * usual_noise_), std::numeric_limits<double>::max() / 4);
  while (!(log_bet(inside - direction * step, direction) >= enough)) {
    step *= 2;
    if (!(step <= farthest)) return -direction * HUGE_VAL;
  }
  double outside = inside - direction * step;
  constexpr int halvings = 30;
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
