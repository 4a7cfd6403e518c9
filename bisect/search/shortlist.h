#pragma once

#include <span>
#include <utility>
#include <vector>

#include "bisect/search/fit.h"

namespace torchwatch::bisect {

/// Tells in a glance how well explanations fit, so that only good ones are fitted with care: by
/// least squares with the weights of another explanation's fit. What a glance costs does not depend
/// on the number of readings.
class Glance {
 public:
  Glance(Summary summary,
         std::vector<double> passed,
         double readings,
         Expectation const& expectation);

  /// About the logarithm of the evidence; only good for comparing with others.
  double operator()(std::span<Rise const> rises) const;

 private:
  using Steps = std::vector<std::pair<std::size_t, double>>;

  void list_steps(Rise const& rise, Steps& steps) const;

  double below(std::size_t row, std::size_t column) const { return sums_[row * size_ + column]; }

  std::size_t size_;
  std::vector<double> sums_;    // of the information, of positions from a row and a column on
  std::vector<double> levels_;  // what readings say, of positions from one on
  std::vector<double> passed_;
  double squares_;
  double prior_squares_;
  double degrees_;
};

}  // namespace torchwatch::bisect
