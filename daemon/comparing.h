#pragma once

#include <span>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "bisect/compare.h"
#include "config/options.h"
#include "daemon/measuring.h"

namespace torchwatch {

/// Two builds to be compared, and why.
struct BuildComparison {
  std::string campaign;
  Build before;
  Build after;
};

/// What a comparison of one benchmark came to: one verdict a metric asked for, and the pairs of
/// each.
struct BuildComparisonResult {
  std::vector<SeriesChange> changes;
  std::vector<std::vector<bisect::Pair>> pairs;  ///< of changes[i]
};

/// Measures two builds interleaved, A B B A, each pair on one slot, until every series is decided.
/// All series are of one benchmark and fleet, which is `fleet`'s. When a process fails for good,
/// what is undecided is inconclusive.
boost::asio::awaitable<BuildComparisonResult> compare_builds(Measuring& measuring,
                                                             Fleet& fleet,
                                                             BuildComparison const& comparison,
                                                             std::span<Series const> series,
                                                             config::DecideOptions const& decide);

}  // namespace torchwatch
