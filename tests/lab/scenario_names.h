#pragma once

#include <algorithm>
#include <array>
#include <string>

namespace torchwatch::lab {

/// The names of all files in tests/lab/scenarios with two nightlies, for tests of every scenario.
/// `culprit-and-fix` and `whole-life` have more.
inline constexpr std::array scenario_names{"one-culprit",
                                           "no-change",
                                           "broken-span",
                                           "broken-span-inside",
                                           "memory",
                                           "ten-percent",
                                           "duplicate-check",
                                           "misfit-fusion",
                                           "small-workspace",
                                           "bounds-checks",
                                           "template-mismatch",
                                           "error-handling",
                                           "two-models",
                                           "two-on-one",
                                           "six-and-four",
                                           "change-and-revert",
                                           "improvement-then-regression",
                                           "dependency"};

/// Returns the name of a scenario's test in GoogleTest: "one_culprit".
template <class TestInfo>
std::string scenario_test_name(TestInfo const& test) {
  std::string name = test.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace torchwatch::lab
