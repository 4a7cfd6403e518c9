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

/// Runs bisections from request to outcome.
///
///     run -> range_of: fetch the ends, list the suspects between them, weigh them
///        |-> begin_with: one recipe for all commits; if it has changed, start over
///        |-> end_with_nights: without a recipe, nightlies are the result -> done
///        |-> narrow_by_nightlies: measure the delivered nightlies; no change -> done
///        `-> search_commits: build both ends
///              |-> find_culprits, until everything is explained:
///              |     search_on: waves of rounds until each series has its answer (BisectionRun);
///              |                confirm compares the ends in another layout if "no change"
///              |     prove: each named commit against its parent, in two layouts; revert check
///              `-> PackageCheck: the ends differ only as nightlies -> environment
///        `-> read_trunk: fetch, and check whether a lone suspect was reverted or is a reland
///        `-> store the outcome, and queue a bisection into each culprit that is a merge
///
/// Steps are stored before they begin and again when they end. So a bisection that was killed,
/// paused or cancelled continues from there. Single-threaded; several may run at the same time.
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

  /// A permanent problem, such as an unbuildable end, ends it as failed. So do commits that the
  /// repository lacks for a day, since they may not be pushed or fetched yet. It is read again at
  /// increasing intervals (next_attempt), which the store counts. An Error means a temporary
  /// failure: run it again.
  boost::asio::awaitable<Result<Bisection>> run(Bisection bisection);

 private:
  /// The suspects, their builds and their weights.
  struct Range {
    bisect::Way way;
    std::optional<Ancestry> ancestry;
    std::vector<double> prior;  ///< one weight per suspect
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
