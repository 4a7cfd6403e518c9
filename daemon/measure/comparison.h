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

/// Two builds to be compared, and the campaign of the comparison.
struct BuildPair {
  Campaign campaign;
  Build before;
  Build after;
  std::map<Series, Build> own{};  ///< some series use these, not `before`
};

/// Returns the builds that a round of these series measures: each baseline of one of them, then
/// `after`. Where some series have their own baseline, each commit appears once.
std::vector<Build> builds_for(std::span<Series const> series, BuildPair const& builds);

/// The known exactness of series whose metrics should repeat exactly; nothing for others.
using Past = std::map<Series, bisect::Exactness>;

/// The result of the comparison of two builds on one benchmark.
struct ComparisonResult {
  std::vector<SeriesChange> changes;             ///< one verdict per requested metric
  std::vector<std::vector<bisect::Pair>> pairs;  ///< pairs[i] belongs to changes[i]
  std::string failure;  ///< why a process failed for good in the last round; else empty
};

/// Measures the builds side by side, each round on one slot and in its own random order, until
/// every series is decided. All series have one benchmark and fleet. When processes fail
/// permanently in a third round, undecided series become inconclusive. Fails as Rounds::measure
/// does.
boost::asio::awaitable<Result<ComparisonResult>> compare_builds(
    Rounds& rounds,
    BuildPair const& builds,
    std::span<Series const> series,
    Past const& past,
    config::DecideOptions const& decide);

/// Series of one benchmark on one fleet: the same processes measure them.
using SeriesGroup = std::vector<Series>;

/// Groups neighbouring series of one benchmark, in their order.
std::vector<SeriesGroup> by_benchmark(std::span<Series const> series);

}  // namespace torchwatch::measure
