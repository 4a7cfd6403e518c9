#pragma once

#include <span>
#include <utility>
#include <vector>

#include "bisect/search/fit.h"

namespace torchwatch::bisect {

/// A fast rating of explanations, so that only good ones are fitted in full. It is a least squares
/// fit with the weights of another explanation's fit. Its cost does not depend on the number of
/// readings.
class Glance {
 public:
  Glance(Summary summary,
         std::vector<double> passed,
         double readings,
         Expectation const& expectation);

  /// Approximates the logarithm of the evidence, up to a constant. Use it only for comparisons.
  double operator()(std::span<Rise const> rises) const;

 private:
  using Steps = std::vector<std::pair<std::size_t, double>>;

  void list_steps(Rise const& rise, Steps& steps) const;

  double below(std::size_t row, std::size_t column) const { return sums_[row * size_ + column]; }

  std::size_t size_;
  std::vector<double> sums_;    // of the information, over rows and columns from a position on
  std::vector<double> levels_;  // sums of the readings, over positions from one on
  std::vector<double> passed_;
  double squares_;
  double prior_squares_;
  double degrees_;
};

}  // namespace torchwatch::bisect
