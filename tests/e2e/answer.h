#pragma once

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace torchwatch::e2e {

/// A finding of a bisection: a culprit, or several suspects of which one is the culprit.
struct Found {
  std::vector<std::string> suspects;
  std::optional<std::string> culprit;
  std::optional<int> pull_request;  ///< the culprit's
  bool is_worse = false;            ///< at least one series increased
  friend auto operator<=>(Found const&, Found const&) = default;
};

/// The outcome and findings of a bisection.
struct FoundBisection {
  /// "culprit", "range", "environment", "not_reproduced" or "undecided"; empty before its end.
  std::string outcome;
  /// Sorted, because noise determines which effect is the largest.
  std::vector<Found> findings;
  friend bool operator==(FoundBisection const&, FoundBisection const&) = default;
};

/// The part of the output of `check --json` that two runs over the same history must agree on: no
/// times, numbers or paths.
struct Answer {
  std::map<std::string, std::string> verdicts;  ///< key: "test_eval[dcgan-cpu-eager]_latency"
  std::set<std::string> moved;                  ///< the series of the incident
  std::vector<FoundBisection> bisections;
  friend bool operator==(Answer const&, Answer const&) = default;
};

/// Reads a bisection from the JSON of the HTTP API, `bisect --json` or `check --json`.
FoundBisection bisection_of(nlohmann::json const& found);

/// Reads the output of `check --json`.
Answer answer_of(nlohmann::json const& found);

/// Prints a value in messages of failed tests.
void PrintTo(Found const& found, std::ostream* stream);
void PrintTo(FoundBisection const& bisection, std::ostream* stream);
void PrintTo(Answer const& answer, std::ostream* stream);

}  // namespace torchwatch::e2e
