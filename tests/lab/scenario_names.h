#pragma once

#include <algorithm>
#include <array>
#include <string>

namespace torchwatch::lab {

/// Every file in tests/lab/scenarios, for tests that go through them all.
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

/// What GoogleTest calls the test of a scenario: "one_culprit".
template <class TestInfo>
std::string scenario_test_name(TestInfo const& test) {
  std::string name = test.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace torchwatch::lab
