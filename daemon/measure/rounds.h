#pragma once

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
  bool profile = false;  ///< also ask what each operator costs
};

/// Measures, and remembers: the same round is measured once, whatever happens in between. An
/// interface, because who measures are other hosts. Single-threaded; whoever asks first is served
/// first, a round at a time.
class Rounds {
 public:
  virtual ~Rounds() = default;

  /// One process of each build on one slot of the fleet, taking turns: their stored outcomes, or
  /// those measured now and stored, in the order of the builds. Which build has which place in the
  /// round is drawn when it is measured, and stands in its outcomes. Two builds may be of one
  /// commit; the second is kept under Campaign::second().
  ///
  /// Fails with unavailable when the fleet cannot measure now, and stores nothing then; with
  /// invalid_argument when there is no such fleet.
  virtual boost::asio::awaitable<Result<std::vector<JobOutcome>>> measure(
      RoundKey key, std::vector<Build> builds) = 0;
};

}  // namespace torchwatch::measure
