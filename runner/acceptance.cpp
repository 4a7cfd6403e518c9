#include "runner/acceptance.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace torchwatch::runner {
namespace {

using protocol::Job;
using protocol::Outcome;
using protocol::Value;

constexpr std::size_t most_accounts = 64;
constexpr std::size_t most_operators = 2000;
constexpr std::size_t longest_names = std::size_t{256} << 10;      // bytes, of all operators
constexpr std::size_t largest_fingerprint = std::size_t{8} << 10;  // bytes; ours have 600

// A picosecond, and eleven days; the largest number up to which a double counts exactly.
constexpr double shortest_ms = 1e-9;
constexpr double longest_ms = 1e9;
constexpr double most_bytes = 9007199254740992.0;

/// Kept memory can also shrink with each iteration.
bool may_be_negative(std::string_view metric) {
  return metric == "leak";
}

bool is_known(std::string_view metric) {
  return metric == "latency" || metric == "cmem" || metric == "gmem" || metric == "leak";
}

bool is_plausible(std::string_view metric, double value) {
  if (!std::isfinite(value)) return false;
  if (metric == "latency") return value >= shortest_ms && value <= longest_ms;
  return std::abs(value) <= most_bytes && (value >= 0 || may_be_negative(metric));
}

std::string check_value(std::string const& metric, Value const& value, Job const& job) {
  if (!is_known(metric)) return "an unknown metric \"" + metric + "\"";
  auto const most =
      static_cast<std::size_t>(std::max({job.measure.runs, job.measure.leak_iterations, 1}));
  auto const of = [&metric](std::size_t count, std::string const& what) {
    return std::to_string(count) + " " + what + " of " + metric;
  };
  if (value.samples.size() > most)
    return of(value.samples.size(), "samples") + ", allowed are " + std::to_string(most);
  if (!is_plausible(metric, value.value))
    return "a " + metric + " of " + std::to_string(value.value);
  for (double const sample : value.samples)
    if (!is_plausible(metric, sample))
      return "a sample of " + metric + " of " + std::to_string(sample);
  auto const is_place = [&value](int place) {
    return place >= 0 && static_cast<std::size_t>(place) < value.samples.size();
  };
  if (value.outliers.size() > value.samples.size() ||
      !std::ranges::all_of(value.outliers, is_place))
    return "outliers of " + metric + " that are not samples";
  return {};
}

std::string check_rest(Outcome const& outcome) {
  if (!std::isfinite(outcome.seconds) || outcome.seconds < 0)
    return std::to_string(outcome.seconds) + " seconds";
  if (!outcome.fingerprint.is_object()) return "a fingerprint that is not an object";
  if (auto const size = outcome.fingerprint.dump().size(); size > largest_fingerprint)
    return "a fingerprint of " + std::to_string(size) + " bytes";
  if (outcome.accounts.size() > most_accounts)
    return std::to_string(outcome.accounts.size()) + " accounts";
  for (auto const& [name, value] : outcome.accounts)
    if (!std::isfinite(value) || value < 0) return "a " + name + " of " + std::to_string(value);
  if (outcome.profile.size() > most_operators)
    return std::to_string(outcome.profile.size()) + " operators";
  std::size_t names = 0;
  for (auto const& [name, calls, ms, bytes] : outcome.profile) {
    names += name.size();
    if (!std::isfinite(calls) || !std::isfinite(ms) || !std::isfinite(bytes))
      return "costs of " + name + " that are not numbers";
  }
  if (names > longest_names)
    return "operators whose names have " + std::to_string(names) + " bytes";
  return {};
}

}  // namespace

std::string check_outcome(Outcome const& outcome, Job const& job) {
  if (outcome.benchmark != job.benchmark) return "a result for \"" + outcome.benchmark + "\"";
  if (!outcome.metrics.contains("latency")) return "no latency";
  for (auto const& [metric, value] : outcome.metrics)
    if (auto why = check_value(metric, value, job); !why.empty()) return why;
  return check_rest(outcome);
}

}  // namespace torchwatch::runner
