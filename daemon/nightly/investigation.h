#pragma once

#include <optional>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/bisection/queue.h"
#include "daemon/measure/rounds.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// Collects the facts for the report of an incident: the culprit, and the operators that changed.
/// Single-threaded.
class Investigation {
 public:
  /// All arguments must outlive it.
  Investigation(config::Options const& options,
                storage::Store& store,
                Clock const& clock,
                measure::Rounds& rounds,
                bisection::Queue& queue)
      : options_{options},
        store_{store},
        clock_{clock},
        rounds_{rounds},
        queue_{queue} {}

  /// Bisects the regressions of the nightly for their incidents, those with one baseline together.
  /// Then bisects the merges that these name, and profiles both builds of the nightly's own
  /// incident. Skips a bisection that a user paused or cancelled, and one without anything between
  /// its ends. For a later edition that joined an incident, and for series that were added to one,
  /// only bisects a series if no commit named by the incident's earlier bisections is in this
  /// nightly, too.
  ///
  /// An Error means that another attempt may succeed, for a day. After a day, a bisection that
  /// could not begin has failed, and one that cannot continue is left to the queue.
  boost::asio::awaitable<Result<>> run(Nightly const& nightly);

 private:
  boost::asio::awaitable<Result<>> bisect(Incident const& incident, Nightly const& nightly);
  std::vector<BisectionRequest> requests_for(Incident const& incident,
                                             Nightly const& nightly) const;
  boost::asio::awaitable<Result<>> bisect(IncidentId incident, BisectionRequest request);
  boost::asio::awaitable<Result<>> bisect_merges(IncidentId incident);
  std::optional<Bisection> next_into_merge(IncidentId incident, BisectionId last) const;
  boost::asio::awaitable<Result<>> carry(BisectionId id);
  Result<> patient(BisectionId id, Error const& problem);
  void give_up(Bisection bisection, Error const& problem);
  bool has_regression(Incident const& incident, Nightly const& nightly, Series const& series) const;
  bool can_be_narrowed(CommitSha const& start, CommitSha const& end) const;

  config::Options const& options_;
  storage::Store& store_;
  Clock const& clock_;
  measure::Rounds& rounds_;
  bisection::Queue& queue_;
};

}  // namespace torchwatch::nightly
