#pragma once

#include <vector>

#include <boost/asio/awaitable.hpp>

#include "bisect/git_history.h"
#include "config/options.h"
#include "daemon/builder.h"
#include "daemon/comparing.h"
#include "daemon/fleets.h"
#include "daemon/measuring.h"
#include "storage/store.h"

namespace torchwatch {

/// Runs searches: measures both ends again, halves the suspects, proves the culprit against its
/// parent. Every step is stored before the next begins, so a search that was cut off goes on where
/// it was. Single-threaded.
class Bisecting {
 public:
  /// All arguments must outlive it.
  Bisecting(storage::Store& store,
            Fleets& fleets,
            Measuring& measuring,
            Builder& builder,
            config::SourceOptions const& source,
            config::DecideOptions const& decide)
      : store_{store},
        fleets_{fleets},
        measuring_{measuring},
        builder_{builder},
        source_{source},
        decide_{decide} {}

  /// Carries `bisection` to its end and stores it. What makes the search impossible (an end that
  /// cannot be built, a start that is no ancestor) ends it as failed; an Error means that it could
  /// not go on now and may be run again.
  boost::asio::awaitable<Result<Bisection>> run(Bisection bisection);

 private:
  struct Ends;

  boost::asio::awaitable<Result<>> search(Bisection& bisection);
  boost::asio::awaitable<Result<Build>> build_end(CommitSha commit);
  boost::asio::awaitable<Result<Ends>> measure_ends(Bisection const& bisection);
  boost::asio::awaitable<Result<std::vector<CommitSha>>> narrow(Bisection& bisection,
                                                                Ends const& ends,
                                                                std::vector<Commit> const& span);
  boost::asio::awaitable<Result<BisectionStep>> try_commit(Bisection const& bisection,
                                                           Ends const& ends,
                                                           CommitSha commit);
  boost::asio::awaitable<Result<>> prove(Bisection& bisection,
                                         Ends const& ends,
                                         bisect::GitHistory& history);
  config::DecideOptions options_of(Bisection const& bisection) const;

  storage::Store& store_;
  Fleets& fleets_;
  Measuring& measuring_;
  Builder& builder_;
  config::SourceOptions const& source_;
  config::DecideOptions const& decide_;
};

}  // namespace torchwatch
