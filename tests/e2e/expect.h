#pragma once

#include <set>
#include <string>

#include "tests/e2e/answer.h"
#include "tests/e2e/process.h"
#include "tests/e2e/world.h"

namespace torchwatch::e2e {

/// Returns the answer of `check --json`. Fails the test and returns an empty one when the output is
/// not an object.
Answer expect_answer(Finished const& check);

/// Returns the series that are worse after all of the lab's culprits together.
std::set<std::string> planted_series(nlohmann::json const& truth);

/// Compares a finished `check --json` with the culprits that the lab planted: exit status, series,
/// culprits, correct ranges, and the report that names them.
void expect_truth(World const& world, Finished const& check);

/// Expects that the bisection found the first culprit that the lab planted. Any other culprit that
/// it names must be planted, too.
void expect_culprit(World const& world, FoundBisection const& bisection);

/// Sends SIGTERM to a service. Expects that it and all processes it started end within seconds.
void expect_quiet_end(World const& world, Process& process);

/// Expects that no process of this world is running. Waits up to 2 minutes for processes to end.
void expect_no_process_left(World const& world);

}  // namespace torchwatch::e2e
