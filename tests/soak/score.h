#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/soak/outcome.h"
#include "tests/soak/plan.h"

namespace torchwatch::soak {

/// The outcome of a soak test, compared with its plan.
struct Score {
  std::size_t to_be_filed = 0;
  std::size_t found = 0;         ///< planted changes that were filed once
  std::size_t true_reports = 0;  ///< incidents that report a planted change
  std::size_t reports = 0;       ///< all incidents
  std::size_t explained = 0;     ///< found changes whose culprit was named, and is right
  std::size_t closed = 0;        ///< found changes that were closed once
  std::vector<std::size_t> nights_to_detect{};
  std::vector<std::size_t> nights_to_explain{};
  std::vector<std::size_t> nights_to_close{};
  /// The promises that were broken, one line each.
  std::vector<std::string> problems{};
};

/// Compares an outcome with its plan. Pure.
Score score_of(Plan const& plan, Outcome const& outcome);

/// Returns the figures as lines of text. Pure.
std::string table_of(Plan const& plan, Outcome const& outcome, Score const& score);

}  // namespace torchwatch::soak
