#pragma once

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace torchwatch::e2e {

/// What a bisection found: a culprit, or commits of which one is it.
struct Found {
  std::vector<std::string> suspects;
  std::optional<std::string> culprit;
  std::optional<int> pull_request;  ///< the culprit's
  bool is_worse = false;            ///< something grew
  friend auto operator<=>(Found const&, Found const&) = default;
};

/// A bisection, by what a person wants to know of it.
struct FoundBisection {
  std::string outcome;  ///< "culprit", "range", "environment", "not_reproduced", "undecided"; empty
                        ///< before its end
  std::vector<Found> findings;  ///< sorted: noise decides which effect is the largest
  friend bool operator==(FoundBisection const&, FoundBisection const&) = default;
};

/// What `check --json` says, times, numbers and places left out: two runs over the same history
/// must agree on it.
struct Answer {
  std::map<std::string, std::string> verdicts;  ///< by "test_eval[dcgan-cpu-eager]_latency"
  std::set<std::string> moved;                  ///< the series of the incident
  std::vector<FoundBisection> bisections;
  friend bool operator==(Answer const&, Answer const&) = default;
};

/// A bisection as the HTTP API, `bisect --json` and `check --json` show it.
FoundBisection bisection_of(nlohmann::json const& found);
Answer answer_of(nlohmann::json const& found);

/// For messages of tests.
void PrintTo(Found const& found, std::ostream* stream);
void PrintTo(FoundBisection const& bisection, std::ostream* stream);
void PrintTo(Answer const& answer, std::ostream* stream);

}  // namespace torchwatch::e2e
