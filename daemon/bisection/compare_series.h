#pragma once

#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/measure/comparison.h"

namespace torchwatch::bisection {

/// A series, and the change that counts as a difference.
struct SeriesThreshold {
  Series series;
  double threshold = 0;
};

/// Compares two builds on several series, the benchmarks side by side. Series of one benchmark
/// share their lowest threshold. Returns one result per benchmark. Fails as Rounds::measure does.
boost::asio::awaitable<Result<std::vector<measure::ComparisonResult>>> compare_series(
    measure::Rounds& rounds,
    measure::BuildPair const& builds,
    std::vector<SeriesThreshold> series,
    config::DecideOptions const& decide);

}  // namespace torchwatch::bisection
