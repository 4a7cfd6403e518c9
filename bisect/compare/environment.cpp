#include "bisect/compare/environment.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <boost/math/distributions/students_t.hpp>

#include "bisect/compare/compare.h"
#include "bisect/compare/statistics.h"

namespace torchwatch::bisect {
namespace {

/// The number of earlier nights that determines a fleet's usual shift.
constexpr std::size_t nights_to_know_a_fleet = 5;

/// The number of earlier nights from which on one in ten may be an outlier.
constexpr std::size_t nights_with_one_to_spare = 10;

/// Share of the nights on which a fleet with a known usual shift exceeds its limit by chance.
constexpr double chance_of_alarm = 1e-3;

/// The least shift, as a logarithm, for a fleet whose usual shift is not known. On shared hosts two
/// sweeps a minute apart differed by up to 28%.
double const least_factor = std::log(1.4);

/// For such a fleet, a shift has to be this many times the difference between rounds of one sweep.
constexpr double dwarfed = 5;

std::vector<double> numbers_in(std::vector<double> const& values) {
  std::vector<double> numbers;
  std::ranges::copy_if(
      values, std::back_inserter(numbers), [](double value) { return std::isfinite(value); });
  return numbers;
}

/// The series of one metric, without values that are not finite.
RemeasuredNight measured_series(RemeasuredNight const& night, Metric metric) {
  RemeasuredNight series;
  for (auto const& one : night) {
    if (one.metric != metric) continue;
    Remeasured numbers{metric, numbers_in(one.then), numbers_in(one.now)};
    if (!numbers.then.empty() && !numbers.now.empty()) series.push_back(std::move(numbers));
  }
  return series;
}

/// Median over the series of the logarithm of now / then. Returns nothing when no series has a
/// logarithm.
std::optional<double> shift_of(RemeasuredNight const& series) {
  std::vector<double> shifts;
  for (auto const& one : series) {
    double const then = median(one.then);
    double const now = median(one.now);
    if (then > 0 && now > 0) shifts.push_back(std::log(now / then));
  }
  if (shifts.empty()) return std::nullopt;
  return median(std::move(shifts));
}

/// The number of series whose cost moved in `direction` by more than their tolerance.
std::size_t count_shifted(RemeasuredNight const& series,
                          double direction,
                          config::DecideOptions const& options) {
  return static_cast<std::size_t>(std::ranges::count_if(series, [&](Remeasured const& one) {
    double const then = cost_of(median(one.then), one.metric);
    double const now = cost_of(median(one.now), one.metric);
    return direction * (now - then) > tolerance(then, one.metric, options);
  }));
}

/// Sizes of the shifts of earlier nights, smallest first.
std::vector<double> sizes_of(std::span<RemeasuredNight const> earlier, Metric metric) {
  std::vector<double> sizes;
  for (auto const& night : earlier)
    if (auto const shift = shift_of(measured_series(night, metric)))
      sizes.push_back(std::abs(*shift));
  std::ranges::sort(sizes);
  return sizes;
}

/// The largest of `sizes` when the largest tenth is left out.
double usual_of(std::vector<double> const& sizes) {
  return sizes.empty() ? 0 : sizes[sizes.size() - 1 - sizes.size() / 10];
}

/// The limit that a night exceeds only with `chance_of_alarm` if it is like the earlier ones.
double limit_of_known(std::vector<double> const& sizes) {
  constexpr double deviations_of_median = 1.4826;  // of normal variables
  auto const count = static_cast<double>(sizes.size());
  double const most =
      sizes.size() < nights_with_one_to_spare ? HUGE_VAL : 3 * deviations_of_median * median(sizes);
  double squares = 0;
  for (double const size : sizes)
    squares += std::pow(std::min(size, most), 2);
  boost::math::students_t const student{count};
  double const deviations =
      boost::math::quantile(boost::math::complement(student, chance_of_alarm / 2));
  return std::max(usual_of(sizes), deviations * std::sqrt(squares / count));
}

double log_range(std::vector<double> const& rounds) {
  auto const [low, high] = std::ranges::minmax(rounds);
  return low > 0 ? std::log(high / low) : 0;
}

/// The difference between rounds of one sweep: median over the series, on the noisier night.
double noise_of_rounds(RemeasuredNight const& series) {
  std::vector<double> then;
  std::vector<double> now;
  for (auto const& one : series) {
    then.push_back(log_range(one.then));
    now.push_back(log_range(one.now));
  }
  return std::max(median(std::move(then)), median(std::move(now)));
}

double limit_of(RemeasuredNight const& series, std::vector<double> const& sizes) {
  if (sizes.size() >= nights_to_know_a_fleet) return limit_of_known(sizes);
  return std::max({least_factor, usual_of(sizes), dwarfed * noise_of_rounds(series)});
}

/// Returns nothing when the metric did not shift.
std::optional<EnvironmentShift> shift_of(Metric metric,
                                         RemeasuredNight const& tonight,
                                         std::span<RemeasuredNight const> earlier,
                                         config::DecideOptions const& options) {
  auto const series = measured_series(tonight, metric);
  auto const up = count_shifted(series, 1, options);
  auto const down = count_shifted(series, -1, options);
  auto const shifted = std::max(up, down);
  if (2 * shifted <= series.size()) return std::nullopt;
  auto const sizes = sizes_of(earlier, metric);
  double const shift = shift_of(series).value_or(0);
  if (!is_deterministic(metric) && std::abs(shift) <= limit_of(series, sizes)) return std::nullopt;
  return EnvironmentShift{
      metric, series.size(), shifted, std::exp(shift), sizes.size(), std::exp(usual_of(sizes))};
}

}  // namespace

std::vector<EnvironmentShift> environment_shifts(RemeasuredNight const& tonight,
                                                 std::span<RemeasuredNight const> earlier,
                                                 config::DecideOptions const& options) {
  std::vector<EnvironmentShift> shifts;
  for (auto const metric : all_metrics())
    if (auto const shift = shift_of(metric, tonight, earlier, options)) shifts.push_back(*shift);
  return shifts;
}

}  // namespace torchwatch::bisect
