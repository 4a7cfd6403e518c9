#pragma once

#include <optional>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/builder.h"
#include "daemon/comparing.h"
#include "daemon/fleets.h"
#include "daemon/measuring.h"

namespace torchwatch {

/// Shows by comparisons what a search concluded: that a lone suspect did what it is said to have
/// done, and what reverting it gives. Everything measured is stored under the bisection's campaign,
/// so a comparison that was cut off goes on where it was. Single-threaded.
class Proving {
 public:
  /// All arguments must outlive it.
  Proving(Fleets& fleets, Measuring& measuring, Builder& builder, config::Options const& options)
      : fleets_{fleets},
        measuring_{measuring},
        builder_{builder},
        options_{options} {}

  /// Compares the suspect's build, `after`, with its parent's on all series that it is said to have
  /// moved, and notes each `Effect::proof`. Returns what was compared.
  boost::asio::awaitable<std::vector<BuildComparisonResult>> prove(Bisection const& bisection,
                                                                   Build before,
                                                                   Build after,
                                                                   Finding& finding);

  /// Compares the newest commit of the search with itself without the culprit, where git can take
  /// it back and the result can be built, and notes each `Effect::revert_check`;
  /// `Finding::no_revert_check` otherwise.
  boost::asio::awaitable<Result<>> check_revert(Bisection const& bisection, Finding& finding);

  /// Compares what the nightlies at the ends of the search came with, on all its series.
  boost::asio::awaitable<std::vector<SeriesChange>> compare_packages(Bisection const& bisection,
                                                                     Build before,
                                                                     Build after);

 private:
  /// Did this series change by that much?
  struct Question {
    Series series;
    double threshold = 0;
  };

  /// Series of one benchmark of one fleet: the same processes measure them.
  struct Group {
    std::vector<Series> series;
    double threshold = 0;  ///< the least of them
  };

  static std::vector<Group> by_benchmark(std::vector<Question> const& questions);

  boost::asio::awaitable<std::vector<BuildComparisonResult>> compare(
      Bisection const& bisection,
      BuildComparison comparison,
      Finding& finding,
      std::optional<Comparison> Effect::*result);
  boost::asio::awaitable<std::vector<BuildComparisonResult>> answer(
      BuildComparison const& comparison, std::vector<Question> const& questions);
  boost::asio::awaitable<void> decide(BuildComparison const& comparison,
                                      Group const& group,
                                      BuildComparisonResult& result);

  Fleets& fleets_;
  Measuring& measuring_;
  Builder& builder_;
  config::Options const& options_;
};

}  // namespace torchwatch
