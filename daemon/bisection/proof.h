#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/bisection/compare_series.h"
#include "daemon/builds/builder.h"
#include "daemon/measure/comparison.h"
#include "storage/domain/bisection.h"

namespace torchwatch::bisection {

/// Tests the result of a search by comparisons: that a lone suspect caused its change, and what a
/// revert gives. All measurements are stored under the bisection's campaigns, so an interrupted
/// comparison continues. Fails as Rounds::measure does. Single-threaded.
class Proof {
 public:
  /// All arguments must outlive it.
  Proof(measure::Rounds& rounds, builds::Builder& builder, config::DecideOptions const& options)
      : rounds_{rounds},
        builder_{builder},
        options_{options} {}

  /// The parent's build and the suspect's, both made with one layout; 0 is the usual one. For a
  /// commit that the end lacks, its own build comes first.
  struct Pair {
    Build before;
    Build after;
    std::size_t layout = 0;
  };

  /// Compares a pair on all series that the suspect is said to have moved, and stores each
  /// `Effect::proof`. With another layout, compares only times and stores each `Effect::rebuilt`.
  /// Returns the comparisons.
  boost::asio::awaitable<Result<std::vector<measure::ComparisonResult>>> compare_with_parent(
      Bisection const& bisection, Pair pair, Finding& finding);

  /// Compares the newest commit of the bisection with itself without the culprit, and stores each
  /// `Effect::revert_check`. If git cannot revert it or the result is unbuildable, stores
  /// `Finding::no_revert_check`.
  boost::asio::awaitable<Result<>> check_revert(Bisection const& bisection, Finding& finding);

 private:
  boost::asio::awaitable<Result<std::vector<measure::ComparisonResult>>> compare(
      measure::BuildPair builds,
      std::vector<SeriesThreshold> series,
      Finding& finding,
      std::optional<Comparison> Effect::*result);

  measure::Rounds& rounds_;
  builds::Builder& builder_;
  config::DecideOptions const& options_;
};

}  // namespace torchwatch::bisection
