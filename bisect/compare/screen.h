#pragma once

#include <span>
#include <vector>

#include "bisect/compare/compare.h"
#include "config/options.h"
#include "storage/domain/benchmark.h"

namespace torchwatch::bisect {

/// An estimate of a variance: the sum of squared deviations, and its degrees of freedom.
struct Spread {
  double squares = 0;
  double degrees = 0;  ///< of freedom; 0: nothing is known

  friend Spread operator+(Spread left, Spread const& right) {
    return {left.squares + right.squares, left.degrees + right.degrees};
  }
};

/// The variance that a fleet lets expect of one of its series, worth as much as `degrees` measured
/// deviations of the series itself. Few where the fleet's series differ much from each other,
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

/// One series of a sweep: a pair of both builds each round.
struct SweepSeries {
  Metric metric = Metric::latency;
  std::vector<Pair> pairs;
  /// Its pairs of earlier nights, of any builds: pairs of one night differ by noise alone.
  std::vector<std::vector<Pair>> past{};
};

/// The cheap filter between sweep and comparison: for each series of one fleet, whether it may have
/// grown by more than its tolerance.
///
/// It may unless a growth as large as the tolerance would be seen to be one with a probability of
/// 98% at least (Student 1908), given the series' own noise: of tonight and of its past, as soon as
/// that has two degrees of freedom. With fewer its fleet stands in as far as its series are alike
/// (usual_spread), and 99.8% are asked for. So a quiet series is confirmed seldom, and a noisy one
/// more instead of being missed more, whatever the rest of the fleet does.
///
/// A night that is louder than the past on the whole fleet makes the past count as louder, too, and
/// a series whose pairs tonight are unlike its past is judged without it. Outliers in the past
/// count as what is barely usual. Pairs with a value that is no number are passed over; where
/// nothing is known of the noise, everything that was measured may have grown.
///
/// Pure. What passes is decided by Compare, from these pairs on.
std::vector<bool> may_have_grown(std::span<SweepSeries const> sweep,
                                 config::DecideOptions const& options);

}  // namespace torchwatch::bisect
