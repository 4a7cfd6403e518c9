#include "runner/acceptance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "storage/domain/metric.h"

namespace torchwatch::runner {
namespace {

using protocol::Job;
using protocol::Outcome;
using protocol::Value;

constexpr std::size_t most_accounts = 64;
constexpr std::size_t most_operators = 2000;
constexpr std::size_t longest_names = std::size_t{256} << 10;      // bytes, of all operators
constexpr std::size_t largest_fingerprint = std::size_t{8} << 10;  // bytes; ours have 600

// A picosecond, and eleven days; the largest number up to which a double counts exactly, of bytes
// and all other units.
constexpr double shortest_ms = 1e-9;
constexpr double longest_ms = 1e9;
constexpr double largest_value = 9007199254740992.0;

/// Kept memory can also shrink with each iteration.
bool may_be_negative(std::string_view metric) {
  return metric == "leak";
}

/// The metrics of the native suite. Only its latency must be in each result.
constexpr std::array<std::string_view, 4> native_metrics{"latency", "cmem", "gmem", "leak"};

bool is_expected(std::string const& metric, Job const& job) {
  auto const& asked = job.metrics;
  return asked.empty() ? std::ranges::count(native_metrics, metric) > 0
                       : std::ranges::count(asked, metric) > 0;
}

/// Returns the declaration of a metric; nothing in a runner, which has no configuration.
std::optional<MetricKind> kind_of(std::string_view name) {
  auto const metric = parse_metric(name);
  return metric ? std::optional{metric->kind()} : std::nullopt;
}

/// Ratios of noisy values, and reciprocals, need positive ones.
bool must_be_positive(std::string_view metric) {
  auto const kind = kind_of(metric);
  return kind && (kind->is_higher_better || !kind->is_exact);
}

bool is_plausible(std::string_view metric, double value) {
  if (!std::isfinite(value)) return false;
  if (metric == "latency") return value >= shortest_ms && value <= longest_ms;
  if (must_be_positive(metric) && value <= 0) return false;
  return std::abs(value) <= largest_value && (value >= 0 || may_be_negative(metric));
}

/// The most samples of a metric: one where a suite declares that processes report the same value.
std::size_t most_samples(std::string_view metric, Job const& job) {
  auto const kind = kind_of(metric);
  bool const is_one_value =
      !job.metrics.empty() && kind && kind->is_exact && !may_be_negative(metric);
  if (is_one_value) return 1;
  return static_cast<std::size_t>(std::max({job.measure.runs, job.measure.leak_iterations, 1}));
}

std::string check_value(std::string const& metric, Value const& value, Job const& job) {
  if (!is_expected(metric, job)) return "an unknown metric \"" + metric + "\"";
  auto const most = most_samples(metric, job);
  if (value.samples.size() > most)
    return std::to_string(value.samples.size()) + " samples of " + metric + ", allowed are " +
           std::to_string(most);
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

std::string check_presence(Outcome const& outcome, Job const& job) {
  if (job.metrics.empty()) return outcome.metrics.contains("latency") ? "" : "no latency";
  for (auto const& metric : job.metrics)
    if (!outcome.metrics.contains(metric)) return "metric " + metric + " is missing";
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
  if (auto why = check_presence(outcome, job); !why.empty()) return why;
  for (auto const& [metric, value] : outcome.metrics)
    if (auto why = check_value(metric, value, job); !why.empty()) return why;
  return check_rest(outcome);
}

}  // namespace torchwatch::runner
