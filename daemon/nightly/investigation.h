#pragma once

#include <optional>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/bisection/queue.h"
#include "daemon/measure/rounds.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// Finds out about an incident what its report shall tell: whose commit it was, and which operators
/// moved. Single-threaded.
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

  /// Bisects the series of the nightly that are in its incident, those with one baseline together,
  /// unless a person paused or cancelled that, or there is nothing between that could be bisected;
  /// then the merges that these name, and profiles both builds. Of a later edition that joined the
  /// incident, only the series are bisected for which the bisections of earlier editions name no
  /// commit that it contains, too. An Error means that it may be tried again, for a day: then a
  /// bisection that could not begin has failed, and one that cannot go on is left to the queue.
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
  bool can_be_narrowed(CommitSha const& start, CommitSha const& end) const;

  config::Options const& options_;
  storage::Store& store_;
  Clock const& clock_;
  measure::Rounds& rounds_;
  bisection::Queue& queue_;
};

}  // namespace torchwatch::nightly
