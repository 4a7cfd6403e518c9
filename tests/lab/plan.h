#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/clock.h"
#include "storage/base/result.h"
#include "tests/lab/material.h"
#include "tests/lab/scenario.h"

namespace torchwatch::lab {

/// One trunk commit before it has a tree and a hash.
struct Step {
  std::string change;                  ///< key of Material::changes
  std::optional<std::size_t> reverts;  ///< the earlier step that this step reverts
  Person author;
  std::vector<std::string> approved_by;  ///< logins
  Timestamp authored;
  Timestamp committed;  ///< equal for all steps of a stack
  int pull_request = 0;
  std::string stack;   ///< ghstack-source-id; empty: not in a stack
  std::string reason;  ///< reason of a revert
};

/// Plans changes, authors and times of all commits: the base history, then the commits before each
/// later nightly. Equal arguments give equal plans. Fails with invalid_argument when the scenario
/// names an unknown change, or has more commits than there are harmless changes.
Result<std::vector<Step>> plan_history(Scenario const& scenario,
                                       Material const& material,
                                       std::uint64_t seed);

/// Returns the time at which the nightly of `day` is released: 07:30 UTC.
Timestamp release_time(std::chrono::sys_days day);

}  // namespace torchwatch::lab
