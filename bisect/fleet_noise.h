#pragma once

#include <span>

namespace torchwatch::bisect {

/// What is known of the variance of something: the squares of deviations, summed, and how many of
/// them are free.
struct Spread {
  double squares = 0;
  double degrees = 0;  ///< of freedom; 0: nothing is known

  friend Spread operator+(Spread left, Spread const& right) {
    return {left.squares + right.squares, left.degrees + right.degrees};
  }
};

/// What a series' fleet tells of the series' own variance before it was measured: as much as
/// `degrees` deviations of its own would. Few where the fleet's series differ much from each other,
/// or are few.
///
/// The variances of a fleet are taken for scaled inverse chi-squared, as in Smyth 2004, Linear
/// models and empirical Bayes methods for assessing differential expression in microarray
/// experiments; scale and degrees are fitted by maximum likelihood. Of all degrees that the fleet
/// does not refute (a log likelihood within 2 of the best) it is the least, so that a fleet that is
/// too small to show its own spread is trusted little.
///
/// Nothing for a fleet of which nothing is known. Variances of less than 1e-12 count as that. Pure.
Spread usual_spread(std::span<Spread const> fleet);

}  // namespace torchwatch::bisect
