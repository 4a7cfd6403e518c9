#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace torchwatch::bisect {

/// The model of a host's pace from round to round. Variances are relative to that of a reading.
struct Drift {
  double variance = 0;   ///< variance of the effect of a round, or of a step of the walk
  bool is_walk = false;  ///< true when each effect is the one before plus a step

  bool operator==(Drift const&) const = default;
};

/// Random effects that rounds add to their readings (Henderson 1975, Best linear unbiased
/// estimation and prediction under a selection model): independent of each other, or a random walk
/// (the local level model of Harvey 1989, Forecasting, Structural Time Series Models and the Kalman
/// Filter). Their precision has three diagonals in both cases, so all takes linear time.
class RoundEffects {
 public:
  /// `drift.variance` is above 0.
  RoundEffects(std::size_t rounds, Drift drift);

  /// Sets the total weight of the readings of each round.
  void weigh(std::span<double const> weights);

  /// Replaces the weighted sum of each round's readings by the round's effect.
  void predict(std::span<double> sums) const;

  /// The factor by which `predict` shrinks the sum of a round, where effects are independent.
  double share(std::size_t round) const { return 1 / pivots_[round]; }

  bool is_walk() const { return drift_.is_walk; }

  /// The squares of the effects, or of the steps of the walk, divided by their variance.
  double squares(std::span<double const> effects) const;

  /// Logarithm of the determinant of the prior covariance times the precision after the readings.
  double log_determinant() const;

 private:
  Drift drift_;
  std::vector<double> diagonal_;  // of the precision before the readings ...
  double off_diagonal_;           // ... and its other two diagonals
  std::vector<double> pivots_;    // factors of the precision after the readings
  std::vector<double> factors_;
};

}  // namespace torchwatch::bisect
