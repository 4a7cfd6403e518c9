#include "bisect/search/fit.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "bisect/compare/statistics.h"

namespace torchwatch::bisect {

namespace {

/// The least size of a lone change, in standard deviations of builds' own levels.
constexpr double beyond_builds = 3;

/// The least size of a gradual change. It is larger, because builds' own levels often look gradual.
constexpr double gradually_beyond_builds = 4;

/// Thread-safe, unlike std::lgamma, which stores the sign in a global variable.
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double log_student(double degrees) {
  return log_gamma((degrees + 1) / 2) - log_gamma(degrees / 2) -
         std::log(degrees * std::numbers::pi) / 2;
}

/// The share of a rise that is reached at a position.
double share_of(Rise const& rise, std::size_t position, std::vector<double> const& passed) {
  if (position <= rise.gap) return 0;
  if (position > rise.last) return 1;
  double const before = passed[rise.gap];
  return (passed[position] - before) / (passed[rise.last + 1] - before);
}

}  // namespace

std::optional<double> solve(Products& a, Parameters& b, std::size_t size) {
  double log_determinant = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (!(a[i][i] > 1e-9)) return std::nullopt;
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

Fitter::Fitter(Measured const& table, Ratios ratios, Expectation const& expectation)
    : table_{table},
      ratios_{ratios},
      expectation_{expectation},
      is_dense_{ratios.drift.variance > 0},
      student_{log_student(ratios.tails)},
      weights_(table.values.size()),
      deviations_(table.values.size()),
      matrix_(is_dense_ ? table.builds() * table.builds() : 0),
      triangle_(ratios.builds > 0 ? matrix_.size() : 0),
      diagonal_(table.builds()),
      levels_(table.builds()),
      common_(table.builds()) {
  if (is_dense_) rounds_.emplace(table.rounds.size() - 1, ratios.drift);
  for (auto& column : columns_)
    column.resize(table.builds());
  for (auto& column : shrunk_)
    column.resize(table.builds());
}

/// Computes the information about builds' levels from the weights of the readings.
void Fitter::weigh() {
  std::ranges::fill(diagonal_, 0);
  std::ranges::fill(levels_, 0);
  weight_ = 0;
  squares_ = 0;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    auto const& [build, round, level] = table_.values[i];
    weight_ += weights_[i];
    squares_ += weights_[i] * level * level;
    diagonal_[build] += weights_[i];
    levels_[build] += weights_[i] * level;
  }
  round_logs_ = 0;
  if (!rounds_) return;
  take_out_rounds();
  for (std::size_t i = 0; i < diagonal_.size(); ++i)
    entry(i, i) += diagonal_[i];
  if (ratios_.builds > 0) factorise();
}

/// The weighted sum of `values` in each round.
std::vector<double> Fitter::sums_of_rounds(std::span<double const> values) const {
  std::vector<double> sums(table_.rounds.size() - 1);
  for (std::size_t i = 0; i < values.size(); ++i)
    sums[table_.values[i].round] += weights_[i] * values[i];
  return sums;
}

/// Removes the effects of rounds, which give no information about builds.
void Fitter::take_out_rounds() {
  auto const& values = table_.values;
  std::vector<double> readings(values.size(), 1);
  rounds_->weigh(sums_of_rounds(readings));
  round_logs_ = rounds_->log_determinant();
  for (std::size_t i = 0; i < values.size(); ++i)
    readings[i] = values[i].level;
  auto const sums = sums_of_rounds(readings);
  auto effects = sums;
  rounds_->predict(effects);
  for (std::size_t round = 0; round < sums.size(); ++round)
    squares_ -= effects[round] * sums[round];
  for (std::size_t i = 0; i < values.size(); ++i)
    levels_[values[i].build] -= weights_[i] * effects[values[i].round];
  std::ranges::fill(matrix_, 0);
  if (rounds_->is_walk())
    take_out_walk();
  else
    take_out_each_round();
}

/// Removes independent effects: two builds share only the effects of rounds that measured both.
void Fitter::take_out_each_round() {
  auto const& values = table_.values;
  for (std::size_t round = 0; round + 1 < table_.rounds.size(); ++round)
    for (auto i = table_.rounds[round]; i < table_.rounds[round + 1]; ++i)
      for (auto j = table_.rounds[round]; j < table_.rounds[round + 1]; ++j)
        entry(values[i].build, values[j].build) -=
            rounds_->share(round) * weights_[i] * weights_[j];
}

/// Removes the effects of a walk, which all builds share.
void Fitter::take_out_walk() {
  auto const& values = table_.values;
  std::vector<double> effects(table_.rounds.size() - 1);
  for (std::size_t build = 0; build < table_.builds(); ++build) {
    std::ranges::fill(effects, 0);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i].build == build) effects[values[i].round] += weights_[i];
    rounds_->predict(effects);
    for (std::size_t i = 0; i < values.size(); ++i)
      entry(values[i].build, build) -= weights_[i] * effects[values[i].round];
  }
}

/// Computes the Cholesky factor of the identity plus `builds` times the information.
void Fitter::factorise() {
  auto const size = table_.builds();
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t column = 0; column <= row; ++column) {
      double sum = ratios_.builds * matrix_[row * size + column] + (row == column ? 1 : 0);
      for (std::size_t k = 0; k < column; ++k)
        sum -= triangle_[row * size + k] * triangle_[column * size + k];
      triangle_[row * size + column] =
          row == column ? std::sqrt(std::max(sum, 1e-12)) : sum / triangle_[column * size + column];
    }
  }
}

/// Removes the effects of builds from a column of weighted sums.
void Fitter::shrink(Column& column) const {
  if (ratios_.builds == 0) return;
  auto const size = table_.builds();
  if (!is_dense_) {
    for (std::size_t i = 0; i < size; ++i)
      column[i] /= 1 + ratios_.builds * diagonal_[i];
    return;
  }
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t k = 0; k < i; ++k)
      column[i] -= triangle_[i * size + k] * column[k];
    column[i] /= triangle_[i * size + i];
  }
  for (auto i = size; i-- > 0;) {
    for (auto k = i + 1; k < size; ++k)
      column[i] -= triangle_[k * size + i] * column[k];
    column[i] /= triangle_[i * size + i];
  }
}

/// Multiplies a column by the information.
void Fitter::multiply(Column const& column, Column& product) const {
  auto const size = table_.builds();
  for (std::size_t i = 0; i < size; ++i) {
    if (!is_dense_) {
      product[i] = diagonal_[i] * column[i];
      continue;
    }
    product[i] = 0;
    for (std::size_t j = 0; j < size; ++j)
      product[i] += matrix_[i * size + j] * column[j];
  }
}

/// Logarithm of the determinant of the identity plus `builds` times the information.
double Fitter::log_builds() const {
  if (ratios_.builds == 0) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < diagonal_.size(); ++i)
    sum += is_dense_ ? 2 * std::log(triangle_[i * diagonal_.size() + i])
                     : std::log1p(ratios_.builds * diagonal_[i]);
  return sum;
}

/// Solves the weighted least squares problem of the columns. Returns the logarithm of the
/// determinant.
std::optional<double> Fitter::solve_weighted(std::size_t size, Parameters& parameters) {
  weigh();
  shrink(levels_);
  Products products{};
  for (std::size_t row = 0; row < size; ++row) {
    multiply(columns_[row], shrunk_[row]);
    shrink(shrunk_[row]);
    parameters[row] = 0;
    for (std::size_t i = 0; i < levels_.size(); ++i)
      parameters[row] += columns_[row][i] * levels_[i];
    for (std::size_t other = 0; other <= row; ++other) {
      double sum = 0;
      for (std::size_t i = 0; i < levels_.size(); ++i)
        sum += columns_[other][i] * shrunk_[row][i];
      products[row][other] = products[other][row] = sum;
    }
  }
  step_share_ = products[0][size - 1] / products[0][0];
  auto const log_determinant = solve(products, parameters, size);
  step_information_ = products[size - 1][size - 1];
  return log_determinant;
}

/// Computes the deviations of the readings. Returns their weighted squares, including those of
/// rounds and builds.
double Fitter::spread(std::size_t size, Parameters const& parameters) {
  double squares = 0;
  for (std::size_t i = 0; i < common_.size(); ++i) {
    double left = levels_[i];
    for (std::size_t at = 0; at < size; ++at)
      left -= parameters[at] * shrunk_[at][i];
    squares += ratios_.builds * left * left;
    common_[i] = ratios_.builds * left;
    for (std::size_t at = 0; at < size; ++at)
      common_[i] += parameters[at] * columns_[at][i];
  }
  for (std::size_t i = 0; i < deviations_.size(); ++i)
    deviations_[i] = table_.values[i].level - common_[table_.values[i].build];
  round_squares_ = 0;
  if (rounds_) {
    auto effects = sums_of_rounds(deviations_);
    rounds_->predict(effects);
    round_squares_ = rounds_->squares(effects);
    for (std::size_t i = 0; i < deviations_.size(); ++i)
      deviations_[i] -= effects[table_.values[i].round];
  }
  round_squares_ += squares;
  squares = round_squares_;
  for (std::size_t i = 0; i < deviations_.size(); ++i)
    squares += weights_[i] * deviations_[i] * deviations_[i];
  return squares;
}

Fit Fitter::fit(std::span<Rise const> rises) {
  constexpr int passes = 4;
  constexpr double log_two_pi = 1.8378770664093453;
  double const tails = ratios_.tails;
  auto const count = static_cast<double>(weights_.size());
  auto const columns = rises.size() + 1;
  auto const size = static_cast<double>(columns);
  double const degrees = expectation_.degrees + count - size;
  double const prior_squares = expectation_.degrees * expectation_.noise * expectation_.noise;
  std::ranges::fill(columns_[0], 1);
  for (std::size_t i = 0; i < rises.size(); ++i)
    for (std::size_t build = 0; build < table_.builds(); ++build)
      columns_[i + 1][build] = share_of(rises[i], table_.at[build], table_.passed);
  std::ranges::fill(weights_, 1);
  Fit fit;
  double log_determinant = 0;
  for (int pass = 0; pass < passes; ++pass) {
    auto const solved = solve_weighted(columns, fit.parameters);
    if (!solved) return {};
    log_determinant = *solved;
    fit.variance = (prior_squares + spread(columns, fit.parameters)) / degrees;
    for (std::size_t i = 0; i < weights_.size(); ++i)
      weights_[i] = (tails + 1) / (tails + deviations_[i] * deviations_[i] / fit.variance);
  }
  double sum = count * student_;
  for (double const deviation : deviations_)
    sum -= (tails + 1) / 2 * std::log1p(deviation * deviation / tails / fit.variance);
  sum -= (round_logs_ + log_builds() + round_squares_ / fit.variance) / 2;
  // The information per reading is not its weight but (tails + 1) / (tails + 3) on average (Lange,
  // Little and Taylor).
  double const firmness = (tails + 1) / (tails + 3) * count / weight_;
  log_determinant += size * std::log(firmness);
  step_information_ *= firmness;
  fit.log_evidence = sum - degrees / 2 * std::log(fit.variance) - prior_squares / fit.variance / 2 -
                     log_determinant / 2 + size * log_two_pi / 2;
  bool const is_gradual = !rises.empty() && rises.back().last > rises.back().gap;
  double const beyond = is_gradual ? gradually_beyond_builds : beyond_builds;
  least_ = std::max(expectation_.least, beyond * std::sqrt(ratios_.builds * fit.variance));
  return fit;
}

Summary Fitter::summary() const {
  auto const builds = table_.builds();
  auto const positions = table_.passed.size();
  Summary summary{
      std::vector<double>(positions * positions), std::vector<double>(positions), squares_};
  for (std::size_t i = 0; i < builds; ++i) {
    summary.levels[table_.at[i]] += levels_[i];
    for (std::size_t j = 0; is_dense_ && j < builds; ++j)
      summary.information[table_.at[i] * positions + table_.at[j]] += matrix_[i * builds + j];
    if (!is_dense_) summary.information[table_.at[i] * (positions + 1)] += diagonal_[i];
  }
  return summary;
}

std::vector<int> Fitter::outliers(double variance) const {
  constexpr double outlying = 3.5;
  constexpr double normal = 1.4826;  // standard deviation, relative to the median size
  constexpr double least = 0.3;      // outliers and the expected noise enlarge the variance
  std::vector<double> sizes;
  for (double const deviation : deviations_)
    sizes.push_back(std::abs(deviation));
  double const usual = std::max(normal * median(std::move(sizes)), least * std::sqrt(variance));
  std::vector<int> outliers(table_.passed.size());
  for (std::size_t i = 0; i < deviations_.size(); ++i)
    if (std::abs(deviations_[i]) > outlying * usual) ++outliers[table_.at[table_.values[i].build]];
  return outliers;
}

Fit Fitter::fit_change(std::span<Rise const> rises) {
  auto result = fit(rises);
  // No reading lies on one side of the rise.
  if (std::isinf(result.log_evidence)) return fit(rises.first(rises.size() - 1));
  double const degrees = expectation_.degrees + static_cast<double>(weights_.size()) -
                         static_cast<double>(rises.size()) - 1;
  double const deviation = std::sqrt(result.variance / step_information_);
  auto& last = result.parameters[rises.size()];
  double const size = last;
  result.log_evidence += std::log(prior_of(size, deviation, degrees));
  last = likely(size);
  result.parameters[0] += step_share_ * (size - last);
  return result;
}

/// Expected prior density of a change whose size is Student distributed around `size`.
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

/// Integrates prior times likelihood by Simpson's rule where they overlap.
double Fitter::integrate(double size, double deviation, double degrees) const {
  constexpr int intervals = 24;
  constexpr double deviations = 7;
  constexpr double excesses = 12;
  double const least = least_;
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

/// `size`, moved into the range that a change may have.
double Fitter::likely(double size) const {
  double const least = least_;
  if (expectation_.direction == Direction::decrease ||
      (expectation_.direction == Direction::both && size < 0))
    return std::min(size, -least);
  return std::max(size, least);
}

}  // namespace torchwatch::bisect
