#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "bisect/search.h"
#include "config/options.h"
#include "daemon/builder.h"
#include "daemon/fetching.h"
#include "daemon/fleets.h"
#include "daemon/measuring.h"
#include "daemon/proving.h"
#include "daemon/search_costs.h"
#include "storage/store.h"

namespace torchwatch {

/// Runs searches: does the steps that `bisect::Search` asks for, proves each culprit against its
/// parent, and goes on with what the proofs leave unexplained. All commits of a search are built by
/// one recipe; when that has changed since the search was cut off, it begins again. A turn is
/// stored before it is begun and each of its steps when it is done, so a search that was cut off
/// goes on where it was. Single-threaded; several searches may run side by side.
class Bisecting {
 public:
  /// All arguments must outlive it.
  Bisecting(storage::Store& store,
            Fleets& fleets,
            Measuring& measuring,
            Builder& builder,
            Fetching& fetching,
            config::Options const& options)
      : store_{store},
        fleets_{fleets},
        measuring_{measuring},
        builder_{builder},
        fetching_{fetching},
        options_{options},
        proving_{fleets, measuring, builder, options} {}

  /// Carries `bisection` to its end and stores it. Returns it as it is stored when somebody has
  /// paused or cancelled it; who does so while it runs also cancels the coroutine, which may be
  /// done anywhere: a step that was not done then is done again when the search goes on.
  /// What makes the search impossible (an end that cannot be built, a start that is no ancestor)
  /// ends it as failed; an Error means that it could not go on now and may be run again.
  boost::asio::awaitable<Result<Bisection>> run(Bisection bisection);

 private:
  /// What is searched.
  struct Range {
    std::vector<Commit> suspects;
    std::vector<double> prior;  ///< of each of them
  };

  /// A search while it runs.
  struct Run {
    Bisection& bisection;
    bisect::Search search;
    SearchCosts costs;
    std::size_t slots = 1;
    std::size_t done = 0;  ///< steps that the search has learned from
    BisectionStage stage = BisectionStage::commits;
    std::map<CommitSha, std::string> packages{};  ///< prefixes, where nightlies are measured
  };

  boost::asio::awaitable<Result<>> search(Bisection& bisection);
  void begin_with(Recipe const& recipe, Bisection& bisection);
  boost::asio::awaitable<Result<>> search_nightlies(Bisection& bisection, Range& range);
  boost::asio::awaitable<Result<>> search_commits(Bisection& bisection, Range range);
  boost::asio::awaitable<Result<>> build_ends(Run& run);
  boost::asio::awaitable<Result<>> ask(Run& run);
  boost::asio::awaitable<Result<>> take_turn(Run& run);
  boost::asio::awaitable<void> do_step(Run& run, std::size_t ordinal, Result<>& result);
  boost::asio::awaitable<Result<std::vector<Build>>> builds_for(Run& run, std::size_t ordinal);
  static std::vector<BuildAttempt> packages_of(Run const& run,
                                               std::vector<CommitSha> const& commits);
  boost::asio::awaitable<Result<std::vector<BuildAttempt>>> build_alike(
      Run& run, std::vector<CommitSha> commits);
  boost::asio::awaitable<Result<BuildAttempt>> build(Run& run,
                                                     CommitSha commit,
                                                     Builder::From from);
  boost::asio::awaitable<void> measure(Run& run, std::size_t ordinal, std::vector<Build> builds);
  boost::asio::awaitable<Result<>> prove(Run& run, Finding& finding);
  boost::asio::awaitable<Result<>> look_at_packages(Run& run);
  std::optional<Build> delivered(Bisection const& bisection, CommitSha const& commit) const;
  std::optional<Recipe> recipe_of(Build const& build) const;
  void plan_turn(Run& run);
  void note_builds(Run& run) const;
  bool is_unbuildable(Run const& run, CommitSha const& commit) const;
  std::map<CommitSha, std::string> packages(RecipeId recipe) const;
  SearchCosts usual_costs() const;
  Bisection stored(BisectionId id) const;
  std::size_t slots_for(BisectionRequest const& request);

  storage::Store& store_;
  Fleets& fleets_;
  Measuring& measuring_;
  Builder& builder_;
  Fetching& fetching_;
  config::Options const& options_;
  Proving proving_;
};

}  // namespace torchwatch
