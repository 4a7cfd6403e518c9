#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "bisect/git/lineage.h"
#include "bisect/search/search.h"
#include "config/options.h"
#include "daemon/bisection/bisection_run.h"
#include "daemon/bisection/cost_estimates.h"
#include "daemon/bisection/proof.h"
#include "daemon/builds/builder.h"
#include "daemon/builds/git_fetch.h"
#include "daemon/measure/rounds.h"
#include "storage/base/clock.h"
#include "storage/store.h"

namespace torchwatch::bisection {

/// Carries bisections from request to outcome.
///
///     run -> range_of: fetch the ends, list the suspects along the way between them, weigh them
///        |-> begin_with: one recipe for all commits; if it has changed, the bisection starts over
///        |-> end_with_nights: no recipe builds commits, so the nightlies have the last word ->
///        done
///        |-> narrow_by_nightlies: measure the delivered nightlies; no change among them -> done
///        `-> search_commits: build both ends
///              |-> find_culprits, until nothing is left unexplained:
///              |     search_on: waves of rounds until each series has its answer (BisectionRun);
///              |                "no change" is confirmed with both ends in another layout
///              (confirm) |     prove: each named commit against its parent, in two layouts; revert
///              check
///              `-> PackageCheck: the ends differ as nightlies and not as commits -> environment
///        `-> read_trunk: fetch, and look whether a lone suspect was reverted or landed before
///        `-> store how it ended, and queue a bisection into each culprit that is a merge
///
/// Steps are stored before they are made and again when they are done, so a bisection that was
/// killed, paused or cancelled anywhere continues from there. Single-threaded; several may run at
/// the same time.
class Bisector {
 public:
  /// All arguments must outlive it.
  Bisector(storage::Store& store,
           measure::Rounds& rounds,
           builds::Builder& builder,
           builds::GitFetch& git_fetch,
           config::Options const& options,
           Clock const& clock)
      : store_{store},
        rounds_{rounds},
        builder_{builder},
        git_fetch_{git_fetch},
        options_{options},
        clock_{clock} {}

  /// Carries `bisection` to its end and stores it. Returns it as it is stored when somebody has
  /// paused or cancelled it; who does so while it runs also cancels the coroutine, which may be
  /// done anywhere: a step that was not done then is done again when the bisection goes on.
  /// What makes it impossible (an end that cannot be built) ends it as failed, and so do commits
  /// that the repository did not give for a day: they may not have been pushed or fetched yet, so
  /// it is asked again at longer and longer intervals (next_attempt), which the store counts. An
  /// Error means that it could not go on now and may be run again.
  boost::asio::awaitable<Result<Bisection>> run(Bisection bisection);

 private:
  /// What is searched.
  struct Range {
    bisect::Way way;
    std::optional<Ancestry> ancestry;
    std::vector<double> prior;  ///< of each suspect
  };

  boost::asio::awaitable<Result<>> carry_out(Bisection& bisection);
  boost::asio::awaitable<void> read_trunk(Bisection& bisection);
  boost::asio::awaitable<Result<Range>> range_of(Bisection const& bisection);
  boost::asio::awaitable<Result<Range>> read_range(BisectionRequest const& request);
  Error patient(std::string const& subject, Error problem);
  void begin_with(Recipe const& recipe, Bisection& bisection);
  BuildVariation build_variation_of(Bisection const& bisection) const;
  boost::asio::awaitable<Result<>> narrow_by_nightlies(Bisection& bisection, Range& range);
  boost::asio::awaitable<Result<>> end_with_nights(Bisection& bisection, Range range);
  boost::asio::awaitable<Result<bisect::Search>> search_nights(
      Bisection& bisection, Range const& range, std::vector<std::size_t> const& positions);
  std::vector<CommitSha> nightlies_at_hand(Bisection const& bisection) const;
  Result<bisect::Lineage> lineage_of(BisectionRequest const& request) const;
  boost::asio::awaitable<Result<>> search_commits(Bisection& bisection, Range range);
  boost::asio::awaitable<Result<std::vector<Finding>>> find_culprits(Bisection const& bisection,
                                                                     BisectionRun& run);
  void note_merge(bisect::Search const& search, Finding& finding) const;
  boost::asio::awaitable<Result<>> search_on(Bisection const& bisection, BisectionRun& run);
  boost::asio::awaitable<Result<>> confirm(Bisection const& bisection,
                                           bisect::Search& search,
                                           std::vector<Series> const& series);
  boost::asio::awaitable<Result<bool>> compare_with_parent(Bisection const& bisection,
                                                           BisectionRun& run,
                                                           Finding& finding,
                                                           std::size_t layout);
  boost::asio::awaitable<Result<>> prove(Bisection const& bisection,
                                         BisectionRun& run,
                                         Finding& finding);
  boost::asio::awaitable<Result<std::optional<Proof::Pair>>> pair_for(Bisection const& bisection,
                                                                      BisectionRun& run,
                                                                      CommitSha suspect,
                                                                      std::size_t layout);
  boost::asio::awaitable<Result<std::optional<Proof::Pair>>> rebuilt(Bisection const& bisection,
                                                                     CommitSha before,
                                                                     CommitSha after,
                                                                     std::size_t layout);
  CostEstimates usual_cost_estimates() const;
  std::size_t slots_for(BisectionRequest const& request) const;
  Bisection stored(BisectionId id) const;

  storage::Store& store_;
  measure::Rounds& rounds_;
  builds::Builder& builder_;
  builds::GitFetch& git_fetch_;
  config::Options const& options_;
  Clock const& clock_;
};

}  // namespace torchwatch::bisection
