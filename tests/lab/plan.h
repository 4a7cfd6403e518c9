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
  std::string change;                  ///< key into Material::changes
  std::optional<std::size_t> reverts;  ///< the earlier step whose change is taken back
  Person author;
  std::vector<std::string> approved_by;  ///< logins
  Timestamp authored;
  Timestamp committed;  ///< equal for the members of a stack
  int pull_request = 0;
  std::string stack;   ///< ghstack-source-id; empty: landed alone
  std::string reason;  ///< of a revert
};

/// Who lands what when: the base history, then the commits between the nightlies. The same
/// arguments give the same plan. Fails with invalid_argument when the scenario names an unknown
/// change or needs more changes than there are.
Result<std::vector<Step>> plan_history(Scenario const& scenario,
                                       Material const& material,
                                       std::uint64_t seed);

/// When the nightly of `day` is cut, UTC.
Timestamp release_time(std::chrono::sys_days day);

}  // namespace torchwatch::lab
