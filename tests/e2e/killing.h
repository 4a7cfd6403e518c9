#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "tests/e2e/process.h"
#include "tests/e2e/world.h"

namespace torchwatch::e2e {

/// The number of kills of a run, and the pauses between them.
struct KillPlan {
  int kills = 30;
  std::uint64_t seed = 1;
  std::chrono::milliseconds shortest_pause{20};
  std::chrono::milliseconds longest_pause{200};
  std::chrono::seconds limit{180};  ///< for the last run, without kills
};

/// The result of `check_with_kills`.
struct Survived {
  Finished check;                    ///< the run that ended by itself
  std::map<std::string, int> kills;  ///< key: "service", "runner" or "worker"
  int total = 0;
};

/// Runs `check --json`. Kills the service, its runner or its worker with SIGKILL at random moments.
/// Starts the service again after it died, until one run ends by itself. Fails the test when a
/// stored measurement is lost or changed, or when a process outlives its service.
Survived check_with_kills(World& world, KillPlan const& plan);

/// Prints how often each part was killed.
void print_kills(Survived const& survived);

}  // namespace torchwatch::e2e
