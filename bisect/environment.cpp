#include "bisect/environment.h"

#include <cmath>

#include "bisect/median.h"
#include "bisect/tolerance.h"

namespace torchwatch::bisect {
namespace {

EnvironmentShift shift_of(Metric metric,
                          std::span<Remeasured const> series,
                          config::DecideOptions const& options) {
  EnvironmentShift shift;
  shift.metric = metric;
  std::vector<double> ratios;
  for (auto const& one : series) {
    if (one.metric != metric) continue;
    double const then = median(one.then);
    double const now = median(one.now);
    ++shift.series;
    if (std::abs(now - then) > tolerance(then, metric, options)) ++shift.shifted;
    if (then > 0) ratios.push_back(now / then);
  }
  if (!ratios.empty()) shift.ratio = median(std::move(ratios));
  return shift;
}

}  // namespace

std::vector<EnvironmentShift> environment_shifts(std::span<Remeasured const> series,
                                                 config::DecideOptions const& options) {
  std::vector<EnvironmentShift> shifts;
  for (auto const metric : all_metrics) {
    auto const shift = shift_of(metric, series, options);
    if (shift.shifted > 0 && 2 * shift.shifted >= shift.series) shifts.push_back(shift);
  }
  return shifts;
}

}  // namespace torchwatch::bisect
