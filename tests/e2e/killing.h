#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "tests/e2e/process.h"
#include "tests/e2e/world.h"

namespace torchwatch::e2e {

/// How hard a service is tried.
struct Ordeal {
  int kills = 30;
  std::uint64_t seed = 1;
  std::chrono::milliseconds shortest_pause{20};
  std::chrono::milliseconds longest_pause{200};
  std::chrono::seconds limit{180};  ///< for the last run, which nobody disturbs
};

struct Survived {
  Finished check;                    ///< the run that came to its end
  std::map<std::string, int> kills;  ///< by part: "service", "runner", "worker"
  int total = 0;
};

/// Runs `check --json`, kills with SIGKILL the service, its runner or its worker at random moments,
/// and runs it again whenever the service died, until one run ends by itself. Fails the test when a
/// stored measurement is gone or another after a kill, and when a process outlives its service.
Survived check_under_fire(World& world, Ordeal const& ordeal);

/// For the test's output: how often each part was killed.
void print_kills(Survived const& survived);

}  // namespace torchwatch::e2e
