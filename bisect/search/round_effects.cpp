#include "bisect/search/round_effects.h"

#include <cmath>

namespace torchwatch::bisect {

RoundEffects::RoundEffects(std::size_t rounds, Drift drift)
    : drift_{drift},
      diagonal_(rounds, (drift.is_walk ? 2 : 1) / drift.variance),
      off_diagonal_{drift.is_walk ? -1 / drift.variance : 0},
      pivots_(rounds),
      factors_(rounds) {
  diagonal_.back() = 1 / drift.variance;
}

void RoundEffects::weigh(std::span<double const> weights) {
  for (std::size_t i = 0; i < pivots_.size(); ++i) {
    pivots_[i] = diagonal_[i] + weights[i];
    if (i == 0) continue;
    factors_[i] = off_diagonal_ / pivots_[i - 1];
    pivots_[i] -= factors_[i] * off_diagonal_;
  }
}

void RoundEffects::predict(std::span<double> sums) const {
  for (std::size_t i = 1; i < sums.size(); ++i)
    sums[i] -= factors_[i] * sums[i - 1];
  for (auto i = sums.size(); i-- > 0;) {
    sums[i] /= pivots_[i];
    if (i + 1 < sums.size()) sums[i] -= factors_[i + 1] * sums[i + 1];
  }
}

double RoundEffects::squares(std::span<double const> effects) const {
  double sum = 0;
  for (std::size_t i = 0; i < effects.size(); ++i) {
    double const before = drift_.is_walk && i > 0 ? effects[i - 1] : 0;
    sum += (effects[i] - before) * (effects[i] - before) / drift_.variance;
  }
  return sum;
}

double RoundEffects::log_determinant() const {
  double sum = 0;
  for (double const pivot : pivots_)
    sum += std::log(pivot * drift_.variance);
  return sum;
}

}  // namespace torchwatch::bisect
