#pragma once

#include <cstddef>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "bisect/search/search.h"
#include "daemon/bisection/build_source.h"
#include "daemon/bisection/cost_estimates.h"
#include "daemon/measure/rounds.h"
#include "storage/store.h"

namespace torchwatch::bisection {

/// One stage of a bisection while it runs: does the steps that `bisect::Search` asks for, a wave at
/// a time, on builds of one source. A wave is stored before it is begun and each of its steps when
/// it is done, so a bisection that was cut off goes on where it was. Single-threaded.
class BisectionRun {
 public:
  /// The parts that it works with, which must outlive it.
  struct Parts {
    storage::Store& store;
    measure::Rounds& rounds;
    BuildSource& source;
  };

  /// `bisection` must outlive it; steps of it that are there are learned from and not done again.
  /// `slots`: steps of a wave.
  BisectionRun(Parts parts,
               Bisection& bisection,
               bisect::Search search,
               CostEstimates costs,
               std::size_t slots);

  /// Passes over the steps of an earlier stage.
  void pass_over(BisectionStage stage);

  /// Remembers which builds need not be made, or cannot be.
  void note_known_builds();

  /// Takes waves until every series has its answer, or nothing tells any more.
  boost::asio::awaitable<Result<>> do_waves();

  /// The builds of `commits` from the source, and what they cost is learned.
  boost::asio::awaitable<Result<std::vector<builds::BuildAttempt>>> builds_of(
      std::vector<CommitSha> commits);

  bisect::Search& search() { return search_; }

 private:
  void plan_wave();
  boost::asio::awaitable<Result<>> do_wave();
  boost::asio::awaitable<Result<>> do_step(std::size_t ordinal);
  boost::asio::awaitable<Result<std::vector<Build>>> builds_for(std::size_t ordinal);
  boost::asio::awaitable<Result<>> measure(std::size_t ordinal, std::vector<Build> builds);
  void learn(std::size_t end);
  void keep(std::size_t ordinal);

  Parts parts_;
  Bisection& bisection_;
  bisect::Search search_;
  CostEstimates costs_;
  std::size_t slots_;
  std::size_t done_ = 0;  // steps that the search has learned from
};

}  // namespace torchwatch::bisection
