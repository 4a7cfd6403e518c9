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

/// Shows by comparisons what a search concluded: that a lone suspect did what it is said to have
/// done, and what reverting it gives. Everything measured is stored under the bisection's
/// campaigns, so a comparison that was cut off goes on where it was. Errors as Rounds::measure's.
/// Single-threaded.
class Proof {
 public:
  /// All arguments must outlive it.
  Proof(measure::Rounds& rounds, builds::Builder& builder, config::DecideOptions const& options)
      : rounds_{rounds},
        builder_{builder},
        options_{options} {}

  /// The parent's build and the suspect's, both made with one layout; 0 is the usual one. Of a
  /// commit that the end lacks, its own build comes first.
  struct Pair {
    Build before;
    Build after;
    std::size_t layout = 0;
  };

  /// Compares a pair on all series that the suspect is said to have moved, and notes each
  /// `Effect::proof`; with another layout than the usual, on those of times alone, and notes each
  /// `Effect::rebuilt`. Returns what was compared.
  boost::asio::awaitable<Result<std::vector<measure::ComparisonResult>>> compare_with_parent(
      Bisection const& bisection, Pair pair, Finding& finding);

  /// Compares the newest commit of the bisection with itself without the culprit, where git can
  /// take it back and the result can be built, and notes each `Effect::revert_check`;
  /// `Finding::no_revert_check` otherwise.
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
