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

/// A reading in the form that the fits use.
struct Value {
  std::size_t build = 0;
  std::size_t round = 0;  ///< counted from 0
  double level = 0;
};

/// All readings of a series.
struct Measured {
  std::vector<Value> values;        ///< sorted by round
  std::vector<std::size_t> at;      ///< for each build, the index of its position in the belief
  std::vector<double> passed;       ///< for each position, the share of the prior before it
  std::vector<std::size_t> rounds;  ///< first value of each round, then the number of values

  std::size_t builds() const { return at.size(); }

  /// True when some round has several readings, so that its effect can be separated from noise.
  bool is_paired() const { return rounds.size() <= values.size(); }
};

/// A rise of the level after the position `gap`: at once, or evenly up to the position `last` + 1.
struct Rise {
  std::size_t gap = 0;
  std::size_t last = gap;

  bool operator==(Rise const&) const = default;
};

/// Variances relative to that of a reading, and the degrees of freedom of a reading's deviation.
struct Ratios {
  Drift drift;        ///< variance of the effects of rounds
  double builds = 0;  ///< variance of the effects of builds
  double tails = 5;   ///< degrees of freedom
};

/// The most changes of an explanation, in addition to at most `most_known` known ones. The
/// parameters are the start's level and the sizes of all changes.
inline constexpr std::size_t most_changes = 3;
using Parameters = std::array<double, 1 + most_known + most_changes>;
using Products = std::array<Parameters, std::tuple_size_v<Parameters>>;

/// Solves a * x = b for a symmetric positive definite matrix of `size` rows in place, and returns
/// the logarithm of its determinant; nothing if it has none.
std::optional<double> solve(Products& a, Parameters& b, std::size_t size);

/// The evidence for a hypothesis, and its best parameters.
struct Fit {
  double log_evidence = -std::numeric_limits<double>::infinity();
  Parameters parameters{};
  double variance = 0;
};

/// Sufficient statistics of the readings, by position.
struct Summary {
  std::vector<double> information;  ///< matrix of the positions' levels, row by row
  std::vector<double> levels;       ///< weighted sums of the readings
  double squares = 0;               ///< weighted squares of the readings
};

/// Fits explanations under given ratios.
///
/// Deviations are Student distributed, so an outlier among the processes costs readings but does
/// not change the verdict. The fit is least squares, reweighted a few times (Lange, Little and
/// Taylor 1989, Robust statistical modeling using the t distribution). Rounds and builds have
/// random effects (Henderson 1975, Best linear unbiased estimation and prediction under a selection
/// model). The evidence is the likelihood at the best parameters times an Occam factor for their
/// uncertainty (Laplace's approximation).
class Fitter {
 public:
  Fitter(Measured const& table, Ratios ratios, Expectation const& expectation);

  /// Fits rises of unlimited sizes.
  Fit fit(std::span<Rise const> rises);

  /// Fits at least one rise. The last one has the prior of a lone change's size.
  Fit fit_change(std::span<Rise const> rises);

  /// Returns the statistics of the readings with the weights of the last fit, without the effects
  /// of builds.
  Summary summary() const;

  /// Returns for each position the number of readings whose deviation is far larger than most.
  /// `variance` is that of the last fit.
  std::vector<int> outliers(double variance) const;

 private:
  using Column = std::vector<double>;  // one entry for each build

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
  std::optional<RoundEffects> rounds_;  // if rounds have effects
  bool is_dense_;
  double student_;  // logarithm of the factor of a deviation's density
  double least_ = 0;
  std::vector<double> weights_;
  std::vector<double> deviations_;
  std::vector<double> matrix_;  // information about builds' levels; only the diagonal unless dense
  std::vector<double> triangle_;  // Cholesky factor of 1 + `builds` * matrix_, if both are needed
  Column diagonal_;
  Column levels_;
  Column common_;  // levels of builds, with their effects
  std::array<Column, std::tuple_size_v<Parameters>> columns_;
  std::array<Column, std::tuple_size_v<Parameters>> shrunk_;
  double weight_ = 0;   // of all readings
  double squares_ = 0;  // weighted squares of the readings' levels, without the effects of rounds
  double round_squares_ = 0;
  double round_logs_ = 0;
  double step_information_ = 0;  // information about the size of the last fit's last rise
  double step_share_ = 0;        // share of the readings after that rise
};

}  // namespace torchwatch::bisect
