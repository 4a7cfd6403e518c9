#pragma once

#include <set>
#include <string>

#include "tests/e2e/answer.h"
#include "tests/e2e/process.h"
#include "tests/e2e/world.h"

namespace torchwatch::e2e {

/// The answer that `check --json` gave; fails the test, and is empty, when it gave none.
Answer expect_answer(Finished const& check);

/// The series that the lab's culprits made worse, all together.
std::set<std::string> planted_series(nlohmann::json const& truth);

/// Holds a finished `check --json` against what the lab planted: exit status, series, culprits and
/// honest ranges, and that the report tells them.
void expect_truth(World const& world, Finished const& check);

/// The bisection accuses the first culprit that the lab planted, and nobody who was not planted.
void expect_culprit(World const& world, FoundBisection const& bisection);

/// A service ends within seconds of SIGTERM, with all that it started.
void expect_quiet_end(World const& world, Process& process);

/// Nothing that was started in this world lives on; waits a moment for what is just dying.
void expect_no_process_left(World const& world);

}  // namespace torchwatch::e2e
