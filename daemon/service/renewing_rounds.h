#pragma once

#include <vector>

#include <boost/asio/awaitable.hpp>

#include "daemon/build/workers.h"
#include "daemon/measure/rounds.h"

namespace torchwatch::service {

/// Rounds of builds whose workers, where we made them, are of today's sources: after an update of
/// torchwatch yesterday's build is measured by the same code as today's.
class RenewingRounds final : public measure::Rounds {
 public:
  /// Both must outlive it.
  RenewingRounds(measure::Rounds& rounds, build::Workers& workers)
      : rounds_{rounds},
        workers_{workers} {}

  /// Errors also as build::Workers::renew's.
  boost::asio::awaitable<Result<std::vector<JobOutcome>>> measure(
      measure::RoundKey key, std::vector<Build> builds) override;

 private:
  measure::Rounds& rounds_;
  build::Workers& workers_;
};

}  // namespace torchwatch::service
