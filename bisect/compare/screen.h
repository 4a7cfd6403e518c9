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
  double degrees = 0;  ///< degrees of freedom; 0 when nothing is known

  friend Spread operator+(Spread left, Spread const& right) {
    return {left.squares + right.squares, left.degrees + right.degrees};
  }
};

/// Returns the variance to expect of one series of a fleet. It is worth as much as `degrees`
/// measured deviations of the series itself: few where the fleet's series are few or differ much.
///
/// The variances of a fleet are modelled as scaled inverse chi-squared, as in Smyth 2004, Linear
/// models and empirical Bayes methods for assessing differential expression in microarray
/// experiments. Scale and degrees are fitted by maximum likelihood. Of all degrees that the fleet
/// does not refute (a log likelihood within 2 of the best) the least are taken. So a fleet that is
/// too small to show its own spread gets little weight.
///
/// Zero degrees for a fleet of which nothing is known. Variances below 1e-12 count as 1e-12. Pure.
Spread usual_spread(std::span<Spread const> fleet);

/// One series of a sweep, with one pair of both builds for each round.
struct SweepSeries {
  Metric metric = Metric::latency;
  std::vector<Pair> pairs;
  /// The pairs of each earlier night, of any builds. Pairs of one night differ only by noise.
  std::vector<std::vector<Pair>> past{};
};

/// The cheap filter between sweep and comparison. Returns for each series of one fleet whether its
/// cost may have grown by more than its tolerance. Compare decides on these, starting with their
/// pairs.
///
/// A series may have grown unless a growth as large as the tolerance would be seen with a
/// probability of at least 98% (Student 1908). The noise is the series' own, of tonight and of the
/// past, if that has two degrees of freedom. With fewer, the fleet's variance is added as far as
/// its series are alike (usual_spread), and 99.8% are required. So a noisy series is confirmed more
/// often than a quiet one, but not missed more often, for any noise of the rest of the fleet.
///
/// On a night that is noisier than the past on the whole fleet, the past counts as noisier too. A
/// series whose pairs tonight are unlike its past is judged without its past. Outliers in the past
/// are reduced to the noise of one night in a hundred. Pairs with a value that is not finite are
/// skipped. Where nothing is known of the noise, everything that was measured may have grown.
///
/// Pure.
std::vector<bool> may_have_grown(std::span<SweepSeries const> sweep,
                                 config::DecideOptions const& options);

}  // namespace torchwatch::bisect
