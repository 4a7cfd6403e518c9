#pragma once

#include <vector>

#include <boost/asio/awaitable.hpp>

#include "daemon/builds/build_store.h"
#include "daemon/builds/workers.h"
#include "daemon/measure/rounds.h"

namespace torchwatch::builds {

/// Rounds that prepare their builds. Before each round, every build is marked as used, and gets the
/// directory of its compile caches. If its worker was made here, it gets one of the current
/// sources. So after an update of torchwatch, old and new builds are measured by the same code.
class PreparedRounds final : public measure::Rounds {
 public:
  /// All must outlive it.
  PreparedRounds(measure::Rounds& rounds, BuildStore& builds, Workers& workers)
      : rounds_{rounds},
        builds_{builds},
        workers_{workers} {}

  /// Also fails as Workers::renew does, without a measurement.
  boost::asio::awaitable<Result<std::vector<JobOutcome>>> measure(
      measure::RoundKey key, std::vector<Build> builds) override;

 private:
  measure::Rounds& rounds_;
  BuildStore& builds_;
  Workers& workers_;
};

}  // namespace torchwatch::builds
