#include "bisect/screen.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <boost/math/distributions/chi_squared.hpp>

#include "bisect/tolerance.h"

namespace torchwatch::bisect {
namespace {

/// Standard errors above the mean that a change may plausibly have.
constexpr double errors_above = 2;

/// Degrees of freedom that the usual noise of a metric counts for.
constexpr double usual_degrees = 4;

/// Changes of one series: logarithms of the ratios, or differences where a value has no logarithm.
struct Changes {
  bool logarithmic = false;
  double count = 0;
  double level = 0;     ///< of A, in the metric's unit
  double mean = 0;      ///< of the changes
  double variance = 0;  ///< of one change; with one change, nothing is known and this is 0
};

Changes changes_of(std::vector<Pair> const& pairs) {
  Changes changes;
  changes.logarithmic = std::ranges::all_of(
      pairs, [](Pair const& pair) { return pair.before > 0 && pair.after > 0; });
  auto const change_of = [&](Pair const& pair) {
    return changes.logarithmic ? std::log(pair.after / pair.before) : pair.after - pair.before;
  };
  changes.count = static_cast<double>(pairs.size());
  for (auto const& pair : pairs) {
    changes.level += pair.before / changes.count;
    changes.mean += change_of(pair) / changes.count;
  }
  if (pairs.size() > 1) {
    for (auto const& pair : pairs) {
      double const residual = change_of(pair) - changes.mean;
      changes.variance += residual * residual / (changes.count - 1);
    }
  }
  return changes;
}

/// The variance that half of the series stay below, corrected for the few degrees of freedom that
/// each has. Nothing when no series was measured twice.
std::optional<double> usual_variance(std::vector<Changes> const& series) {
  std::vector<double> variances;
  for (auto const& changes : series) {
    if (!changes.logarithmic || changes.count < 2) continue;
    double const degrees = changes.count - 1;
    boost::math::chi_squared const spread{degrees};
    variances.push_back(changes.variance * degrees / boost::math::median(spread));
  }
  if (variances.empty()) return std::nullopt;
  auto const middle = variances.begin() + std::ssize(variances) / 2;
  std::ranges::nth_element(variances, middle);
  return *middle;
}

/// Nothing when too little is known.
std::optional<double> standard_error(Changes const& changes, std::optional<double> usual) {
  double const degrees = changes.count - 1;
  if (changes.logarithmic && usual) {
    double const variance =
        (usual_degrees * *usual + degrees * changes.variance) / (usual_degrees + degrees);
    return std::sqrt(variance / changes.count);
  }
  if (degrees < 1) return std::nullopt;
  return std::sqrt(changes.variance / changes.count);
}

}  // namespace

std::vector<bool> may_have_grown(std::span<Swept const> sweep,
                                 config::DecideOptions const& options) {
  std::map<Metric, std::vector<Changes>> by_metric;
  for (auto const& series : sweep)
    if (!series.pairs.empty()) by_metric[series.metric].push_back(changes_of(series.pairs));
  std::map<Metric, std::optional<double>> usual;
  for (auto const& [metric, changes] : by_metric)
    usual[metric] = usual_variance(changes);

  std::vector<bool> verdicts;
  for (auto const& series : sweep) {
    if (series.pairs.empty()) {
      verdicts.push_back(false);
      continue;
    }
    auto const changes = changes_of(series.pairs);
    auto const error = standard_error(changes, usual[series.metric]);
    double const most = changes.mean + errors_above * error.value_or(HUGE_VAL);
    double const growth = changes.logarithmic ? changes.level * std::expm1(most) : most;
    verdicts.push_back(growth > tolerance(changes.level, series.metric, options));
  }
  return verdicts;
}

}  // namespace torchwatch::bisect
