#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "bisect/compare/compare.h"
#include "bisect/compare/exactness.h"
#include "config/options.h"
#include "daemon/measure/rounds.h"
#include "storage/domain/comparison.h"

namespace torchwatch::measure {

/// Two builds to be compared, and what for.
struct BuildPair {
  Campaign campaign;
  Build before;
  Build after;
  std::map<Series, Build> own{};  ///< what some series are compared with instead of `before`
};

/// The builds that a round of these series measures: each that one of them is compared with, then
/// `after`. Where some have a baseline of their own, a commit is there once.
std::vector<Build> builds_for(std::span<Series const> series, BuildPair const& builds);

/// What is known of series whose metrics should repeat exactly; of others, nothing.
using Past = std::map<Series, bisect::Exactness>;

/// What the comparison of two builds on one benchmark came to.
struct ComparisonResult {
  std::vector<SeriesChange> changes;             ///< one verdict a metric asked for
  std::vector<std::vector<bisect::Pair>> pairs;  ///< of changes[i]
  std::string failure;  ///< why a process failed for good in the last round; else empty
};

/// Measures the builds interleaved, each round on one slot and in an order of its own that is drawn
/// by lot, until every series is decided. All series are of one benchmark and fleet. When processes
/// fail for good in a third round, what is undecided is inconclusive. Errors as Rounds::measure's.
boost::asio::awaitable<Result<ComparisonResult>> compare_builds(
    Rounds& rounds,
    BuildPair const& builds,
    std::span<Series const> series,
    Past const& past,
    config::DecideOptions const& decide);

/// Series of one benchmark on one fleet: the same processes measure them.
using SeriesGroup = std::vector<Series>;

/// Groups of series that stand next to each other, in their order.
std::vector<SeriesGroup> by_benchmark(std::span<Series const> series);

}  // namespace torchwatch::measure
