#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "bisect/posterior.h"

namespace torchwatch::bisect {

/// A reading as the fits see it.
struct Value {
  std::size_t index = 0;  ///< of its position among the belief's
  std::size_t round = 0;  ///< counted from 0
  double level = 0;
};

/// An explanation has at most so many changes beside those that are known, of which there are at
/// most so many. The parameters are the start's level and all sizes.
inline constexpr std::size_t most_changes = 3;
using Parameters = std::array<double, 1 + most_known + most_changes>;

/// How well a hypothesis predicted the readings, and its best parameters.
struct Fit {
  double log_evidence = -std::numeric_limits<double>::infinity();
  Parameters parameters{};
  double variance = 0;
};

/// Fits explanations under one drift, the variance of what a round adds to its readings by that of
/// a reading. Deviations are Student distributed, so that a process that went astray costs readings
/// and no verdict: least squares, weighted anew a few times (Lange, Little and Taylor 1989, Robust
/// statistical modeling using the t distribution). The evidence is the likelihood at the best
/// parameters times what their uncertainty leaves of their prior (Laplace).
class Fitter {
 public:
  Fitter(std::span<Value const> values,
         std::size_t rounds,
         double drift,
         Expectation const& expectation)
      : values_{values},
        rounds_{rounds},
        drift_{drift},
        expectation_{expectation},
        weights_(values.size()),
        deviations_(values.size()) {}

  /// Steps of unlimited sizes after the positions `gaps`.
  Fit fit(std::span<std::size_t const> gaps);

  /// Steps after the positions `gaps`, at least one, the last of which is of the size that is
  /// expected of a change.
  Fit fit_change(std::span<std::size_t const> gaps);

 private:
  struct Round {
    Parameters columns{};
    double levels = 0;
    double weight = 0;
    double shared = 0;  ///< what it adds to its readings
  };

  static double column(Value const& value, std::span<std::size_t const> gaps, std::size_t i) {
    return i == 0 || value.index > gaps[i - 1] ? 1 : 0;
  }

  std::optional<double> solve_weighted(std::span<std::size_t const> gaps, Parameters& parameters);
  double spread(std::span<std::size_t const> gaps, Parameters const& parameters);
  double prior_of(double size, double deviation, double degrees) const;
  double integrate(double size, double deviation, double degrees) const;
  double likely(double size) const;

  std::span<Value const> values_;
  std::size_t rounds_;
  double drift_;
  Expectation const& expectation_;
  std::vector<double> weights_;
  std::vector<double> deviations_;
  std::vector<Round> sums_;
  // Of the last step of the last fit:
  double step_information_ = 0;  // about its size, by the noise
  double step_share_ = 0;        // share of the readings that have it
};

}  // namespace torchwatch::bisect
