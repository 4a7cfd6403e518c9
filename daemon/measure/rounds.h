#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "storage/base/result.h"
#include "storage/domain/build.h"
#include "storage/domain/job.h"

namespace torchwatch::measure {

/// One round of a campaign on one benchmark.
struct RoundKey {
  Campaign campaign;
  std::string fleet;
  Benchmark benchmark;
  int round = 0;
  bool profile = false;  ///< also measure the cost of each operator
  /// The slot to measure on, from 0, even if it is quarantined. Nothing: any that is in use.
  std::optional<std::size_t> slot = std::nullopt;
};

/// Measures and stores rounds: a stored round is never measured again, also after a crash. An
/// interface, because other hosts measure. Single-threaded; callers are served in their order, a
/// round at a time.
class Rounds {
 public:
  virtual ~Rounds() = default;

  /// Returns the stored outcomes of a round, in the order of the builds. Measures and stores them
  /// first if they are missing: one process of each build on one slot of the fleet, taking turns.
  /// The places of the builds are drawn then, and are part of the outcomes. Two builds may have one
  /// commit; the second is stored under Campaign::second().
  ///
  /// Fails with unavailable when the fleet, or the slot of the key, cannot measure now, and stores
  /// nothing then. Fails with invalid_argument when there is no such fleet or slot.
  virtual boost::asio::awaitable<Result<std::vector<JobOutcome>>> measure(
      RoundKey key, std::vector<Build> builds) = 0;
};

}  // namespace torchwatch::measure
