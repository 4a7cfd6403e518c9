#include "bisect/search/shortlist.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace torchwatch::bisect {

Glance::Glance(Summary summary,
               std::vector<double> passed,
               double readings,
               Expectation const& expectation)
    : size_{passed.size()},
      sums_{std::move(summary.information)},
      levels_{std::move(summary.levels)},
      passed_{std::move(passed)},
      squares_{summary.squares},
      prior_squares_{expectation.degrees * expectation.noise * expectation.noise},
      degrees_{expectation.degrees + readings} {
  for (auto row = size_; row-- > 0;) {
    if (row + 1 < size_) levels_[row] += levels_[row + 1];
    for (auto column = size_; column-- > 0;) {
      bool const has_row = row + 1 < size_;
      bool const has_column = column + 1 < size_;
      sums_[row * size_ + column] += (has_row ? below(row + 1, column) : 0) +
                                     (has_column ? below(row, column + 1) : 0) -
                                     (has_row && has_column ? below(row + 1, column + 1) : 0);
    }
  }
}

/// Lists a rise as steps: the position of each, and its part of the rise.
void Glance::list_steps(Rise const& rise, Steps& steps) const {
  steps.clear();
  double const begin = passed_[rise.gap];
  double const whole = passed_[rise.last + 1] - begin;
  for (auto at = rise.gap + 1; at <= rise.last + 1; ++at)
    steps.emplace_back(at, (passed_[at] - passed_[at - 1]) / whole);
}

double Glance::operator()(std::span<Rise const> rises) const {
  std::array<Steps, most_changes + 1 + most_known> columns;
  columns[0] = {{0, 1}};
  for (std::size_t i = 0; i < rises.size(); ++i)
    list_steps(rises[i], columns[i + 1]);
  auto const count = rises.size() + 1;
  Products products{};
  Parameters sums{};
  for (std::size_t i = 0; i < count; ++i) {
    for (auto const& [at, part] : columns[i])
      sums[i] += part * levels_[at];
    for (std::size_t j = 0; j <= i; ++j) {
      double product = 0;
      for (auto const& [at, part] : columns[i])
        for (auto const& [other, share] : columns[j])
          product += part * share * below(at, other);
      products[i][j] = products[j][i] = product;
    }
  }
  auto parameters = sums;
  auto const log_determinant = solve(products, parameters, count);
  if (!log_determinant) return -std::numeric_limits<double>::infinity();
  double squares = squares_;
  for (std::size_t i = 0; i < count; ++i)
    squares -= parameters[i] * sums[i];
  auto const size = static_cast<double>(count);
  double const degrees = degrees_ - size;
  double const variance = (prior_squares_ + std::max(squares, 0.0)) / degrees;
  return -degrees / 2 * std::log(variance) - *log_determinant / 2;
}

}  // namespace torchwatch::bisect
