#pragma once

#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/measure/comparison.h"

namespace torchwatch::bisection {

/// A series, and by how much it must differ.
struct SeriesThreshold {
  Series series;
  double threshold = 0;
};

/// Compares two builds on several series, the benchmarks side by side. Series of one benchmark
/// share the least of their thresholds. One result a benchmark. Errors as Rounds::measure's.
boost::asio::awaitable<Result<std::vector<measure::ComparisonResult>>> compare_series(
    measure::Rounds& rounds,
    measure::BuildPair const& builds,
    std::vector<SeriesThreshold> series,
    config::DecideOptions const& decide);

}  // namespace torchwatch::bisection
