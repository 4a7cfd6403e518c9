#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "bisect/search/posterior.h"
#include "bisect/search/round_effects.h"

namespace torchwatch::bisect {

/// A reading as the fits see it.
struct Value {
  std::size_t build = 0;
  std::size_t round = 0;  ///< counted from 0
  double level = 0;
};

/// All readings of a series.
struct Measured {
  std::vector<Value> values;        ///< by round
  std::vector<std::size_t> at;      ///< of each build: its position's index among the belief's
  std::vector<double> passed;       ///< of each position: share of the prior's weight before it
  std::vector<std::size_t> rounds;  ///< where each begins among the values, and their number

  std::size_t builds() const { return at.size(); }

  /// Some round has several readings, so that what it adds to them can be told from noise.
  bool is_paired() const { return rounds.size() <= values.size(); }
};

/// The level rises after the position `gap`: at once, or evenly up to the position `last` + 1.
struct Rise {
  std::size_t gap = 0;
  std::size_t last = gap;

  bool operator==(Rise const&) const = default;
};

/// Variances by that of a reading, and the degrees of freedom of a reading's deviation.
struct Ratios {
  Drift drift;        ///< of what a round adds to its readings
  double builds = 0;  ///< of what a build adds to its readings
  double tails = 5;
};

/// An explanation has at most so many changes beside those that are known, of which there are at
/// most so many. The parameters are the start's level and all sizes.
inline constexpr std::size_t most_changes = 3;
using Parameters = std::array<double, 1 + most_known + most_changes>;
using Products = std::array<Parameters, std::tuple_size_v<Parameters>>;

/// Solves a * x = b for a symmetric positive definite matrix of `size` rows in place, and returns
/// the logarithm of its determinant; nothing if it has none.
std::optional<double> solve(Products& a, Parameters& b, std::size_t size);

/// How well a hypothesis predicted the readings, and its best parameters.
struct Fit {
  double log_evidence = -std::numeric_limits<double>::infinity();
  Parameters parameters{};
  double variance = 0;
};

/// What is left of readings, by position: the information about the positions' levels, row by row,
/// what the readings say of them, and their weighted squares.
struct Summary {
  std::vector<double> information;
  std::vector<double> levels;
  double squares = 0;
};

/// Fits explanations under given ratios. Deviations are Student distributed, so that a process that
/// is an outlier costs readings and no verdict: least squares, weighted anew a few times (Lange,
/// Little and Taylor 1989, Robust statistical modeling using the t distribution). What rounds and
/// builds add are random effects (Henderson 1975, Best linear unbiased estimation and prediction
/// under a selection model). The evidence is the likelihood at the best parameters times what their
/// uncertainty leaves of their prior (Laplace).
class Fitter {
 public:
  Fitter(Measured const& table, Ratios ratios, Expectation const& expectation);

  /// Rises of unlimited sizes.
  Fit fit(std::span<Rise const> rises);

  /// At least one rise, the last of which is of the size that is expected of a change.
  Fit fit_change(std::span<Rise const> rises);

  /// After a fit: what its weights leave of the readings of builds, what builds themselves add left
  /// aside.
  Summary summary() const;

  /// After a fit of that variance: of each position, the readings that are off by much more than
  /// most are.
  std::vector<int> outliers(double variance) const;

 private:
  using Column = std::vector<double>;  // of each build

  void weigh();
  void take_out_rounds();
  void take_out_each_round();
  void take_out_walk();
  std::vector<double> sums_of_rounds(std::span<double const> values) const;
  void factorise();
  void shrink(Column& column) const;
  void multiply(Column const& column, Column& product) const;
  double log_builds() const;
  std::optional<double> solve_weighted(std::size_t size, Parameters& parameters);
  double spread(std::size_t size, Parameters const& parameters);
  double prior_of(double size, double deviation, double degrees) const;
  double integrate(double size, double deviation, double degrees) const;
  double likely(double size) const;

  double& entry(std::size_t row, std::size_t column) {
    return matrix_[row * table_.builds() + column];
  }

  Measured const& table_;
  Ratios ratios_;
  Expectation const& expectation_;
  std::optional<RoundEffects> rounds_;  // if they add anything
  bool is_dense_;
  double student_;  // logarithm of the factor of a deviation's density
  double least_ = 0;
  std::vector<double> weights_;
  std::vector<double> deviations_;
  std::vector<double> matrix_;  // information about builds' levels; only the diagonal unless dense
  std::vector<double> triangle_;  // of one and `builds` times that, if both are needed
  Column diagonal_;
  Column levels_;
  Column common_;  // what builds add
  std::array<Column, std::tuple_size_v<Parameters>> columns_;
  std::array<Column, std::tuple_size_v<Parameters>> shrunk_;
  double weight_ = 0;   // of all readings
  double squares_ = 0;  // of the readings' levels, what rounds have in common taken out
  double round_squares_ = 0;
  double round_logs_ = 0;
  double step_information_ = 0;  // of the last rise of the last fit: about its size, by the noise
  double step_share_ = 0;        // share of the readings that have it
};

}  // namespace torchwatch::bisect
