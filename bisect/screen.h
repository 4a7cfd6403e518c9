#pragma once

#include <span>
#include <vector>

#include "bisect/compare.h"
#include "config/options.h"
#include "storage/domain/benchmark.h"

namespace torchwatch::bisect {

/// What a sweep measured of one series: both builds, a pair a round.
struct Swept {
  Metric metric = Metric::latency;
  std::vector<Pair> pairs;
  /// What was measured of it on earlier nights, of whatever builds: pairs of one night differ by
  /// noise alone.
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
/// a series whose pairs tonight are unlike its past is judged without it. Strays in the past count
/// as what is barely usual. Pairs with a value that is no number are passed over; where nothing is
/// known of the noise, everything that was measured may have grown.
///
/// Pure. What passes is decided by Compare, from these pairs on.
std::vector<bool> may_have_grown(std::span<Swept const> sweep,
                                 config::DecideOptions const& options);

}  // namespace torchwatch::bisect
