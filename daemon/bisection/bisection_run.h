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

/// One stage of a bisection while it runs. Measures the steps that `bisect::Search` plans, a wave
/// at a time, on builds of one source. A wave is stored before it begins, and each of its steps
/// when it ends, so an interrupted bisection continues from there. Single-threaded.
class BisectionRun {
 public:
  /// The parts that it uses, which must outlive it.
  struct Parts {
    storage::Store& store;
    measure::Rounds& rounds;
    BuildSource& source;
  };

  /// `bisection` must outlive it. Its stored steps are learned from, not repeated. `slots`: the
  /// number of steps in a wave.
  BisectionRun(Parts parts,
               Bisection& bisection,
               bisect::Search search,
               CostEstimates costs,
               std::size_t slots);

  /// Skips the steps of an earlier stage.
  void pass_over(BisectionStage stage);

  /// Stores which builds exist, and which are unbuildable.
  void note_known_builds();

  /// Does waves until every series has its answer, or no step would add information.
  boost::asio::awaitable<Result<>> do_waves();

  /// Returns the builds of `commits` from the source, and learns their cost.
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
