#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace torchwatch::bisect {

/// The changes of a host's pace from round to round. Variances are divided by that of a reading.
struct Drift {
  double variance = 0;   ///< of what a round adds to its readings, or of a step of the walk
  bool is_walk = false;  ///< a round adds what the one before did, and a step: neighbours are alike

  bool operator==(Drift const&) const = default;
};

/// Random effects that rounds add to their readings (Henderson 1975, Best linear unbiased
/// estimation and prediction under a selection model): independent of each other, or a random walk
/// (the local level model of Harvey 1989, Forecasting, Structural Time Series Models and the Kalman
/// Filter). Their precision has three diagonals in both cases, so all takes linear time.
class RoundEffects {
 public:
  /// With a variance above 0.
  RoundEffects(std::size_t rounds, Drift drift);

  /// `weights`: what all readings of each round weigh.
  void weigh(std::span<double const> weights);

  /// Turns weighted sums of each round's readings into what the rounds add to them.
  void predict(std::span<double> sums) const;

  /// The factor by which `predict` shrinks the sum of a round, where effects are independent.
  double share(std::size_t round) const { return 1 / pivots_[round]; }

  bool is_walk() const { return drift_.is_walk; }

  /// How unlikely such effects are: their squares, by their variances.
  double squares(std::span<double const> effects) const;

  /// Logarithm of how much more room the effects had before the readings than after.
  double log_determinant() const;

 private:
  Drift drift_;
  std::vector<double> diagonal_;  // of the precision before the readings ...
  double beside_;                 // ... and its other two diagonals
  std::vector<double> pivots_;    // after them: its factors
  std::vector<double> factors_;
};

}  // namespace torchwatch::bisect
