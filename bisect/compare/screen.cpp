#include "bisect/compare/screen.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/students_t.hpp>

#include "bisect/compare/compare.h"
#include "bisect/compare/statistics.h"

namespace torchwatch::bisect {
namespace {

/// The degrees of freedom that a fleet may count for.
constexpr std::array degrees_tried{
    0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 64.0};

/// A fit whose log likelihood is within this of the best is not refuted.
constexpr double likelihood_margin = 2;

/// The least variance of a relative change: its deviation is one in a million. Series that repeat
/// exactly get it.
constexpr double least_variance = 1e-12;

/// A fleet's variances, if they spread by `degrees` about `variance`.
struct SpreadFit {
  double degrees = 0;
  double variance = 0;
  double log_likelihood = 0;
};

std::vector<Spread> known_of(std::span<Spread const> fleet) {
  std::vector<Spread> known;
  for (auto const& [squares, degrees] : fleet)
    if (degrees > 0 && std::isfinite(squares))
      known.push_back({std::max(squares, degrees * least_variance), degrees});
  return known;
}

/// Positive while a larger variance explains the fleet better.
double slope(std::span<Spread const> fleet, double degrees, double variance) {
  double slope = 0;
  for (auto const& one : fleet) {
    double const excess = one.squares / (degrees * variance);
    slope += (one.degrees + degrees) * excess / (1 + excess) - one.degrees;
  }
  return slope;
}

double likeliest_variance(std::span<Spread const> fleet, double degrees) {
  constexpr int halvings = 50;
  double low = std::log(least_variance) - 10;
  double high = 700;
  for (int i = 0; i < halvings; ++i) {
    double const middle = (low + high) / 2;
    (slope(fleet, degrees, std::exp(middle)) > 0 ? low : high) = middle;
  }
  return std::exp((low + high) / 2);
}

/// The log likelihood without the terms that depend on the fleet alone.
double log_likelihood(std::span<Spread const> fleet, double degrees, double variance) {
  double sum = 0;
  for (auto const& one : fleet)
    sum += std::lgamma((one.degrees + degrees) / 2) - std::lgamma(degrees / 2) -
           one.degrees / 2 * std::log(degrees * variance) -
           (one.degrees + degrees) / 2 * std::log1p(one.squares / (degrees * variance));
  return sum;
}

/// Probability that a growth as large as the tolerance is missed, given a series' own noise.
constexpr double own_error = 0.02;

/// That probability when the noise comes from the fleet. It holds on average over the fleet: series
/// noisier than the rest get all of the error, and they may be a tenth of the fleet.
constexpr double fleet_error = 0.002;

/// The degrees of freedom from which on a series does not need the fleet's variance.
constexpr double enough_degrees = 2;

/// The number of past nights from which on one of them may be an outlier.
constexpr std::size_t enough_past_nights = 3;

/// Summary of the changes of one series on one night. Changes are logarithms of ratios, or
/// differences where a value has no logarithm.
struct NightChanges {
  double count = 0;
  double mean = 0;
  Spread spread;
};

/// The summary of one series of a sweep.
struct Judged {
  bool logarithmic = false;
  double level = 0;  ///< cost of A
  NightChanges tonight;
  Spread past;
};

bool is_finite(Pair const& pair) {
  return std::isfinite(pair.before) && std::isfinite(pair.after);
}

bool has_logarithm(Pair const& pair) {
  return pair.before > 0 && pair.after > 0;
}

/// Skips pairs that are not finite or do not fit the scale.
std::vector<double> changes_in(std::vector<Pair> const& pairs, bool logarithmic) {
  std::vector<double> changes;
  for (auto const& pair : pairs) {
    if (!is_finite(pair) || (logarithmic && !has_logarithm(pair))) continue;
    changes.push_back(logarithmic ? std::log(pair.after / pair.before) : pair.after - pair.before);
  }
  return changes;
}

NightChanges summary_of(std::vector<double> const& values) {
  NightChanges changes;
  changes.count = static_cast<double>(values.size());
  for (double const value : values)
    changes.mean += value / changes.count;
  for (double const value : values)
    changes.spread.squares += (value - changes.mean) * (value - changes.mean);
  changes.spread.degrees = std::max(0.0, changes.count - 1);
  return changes;
}

/// A quantile of a measured variance of `degrees`, relative to the true one: the quantile that a
/// normal variable has at `deviation` (Wilson and Hilferty 1931, for chi-squared).
double chi_squared_ratio(double degrees, double deviation) {
  double const variance = 2 / (9 * degrees);
  return std::pow(1 - variance + deviation * std::sqrt(variance), 3);
}

/// Median of the nights' variances, corrected for their few degrees of freedom.
double typical_variance(std::vector<Spread> const& nights) {
  std::vector<double> variances;
  for (auto const& [squares, degrees] : nights)
    variances.push_back(squares / degrees / chi_squared_ratio(degrees, 0));
  return median(std::move(variances));
}

/// Sums the nights. An outlier is reduced to the variance that one night in a hundred exceeds.
Spread sum_without_outliers(std::vector<Spread> const& nights) {
  constexpr double one_in_a_hundred = 2.326;  // standard deviations
  Spread sum;
  if (nights.empty()) return sum;
  double const typical = nights.size() < enough_past_nights ? HUGE_VAL : typical_variance(nights);
  for (auto const& [squares, degrees] : nights) {
    double const most = typical * degrees * chi_squared_ratio(degrees, one_in_a_hundred);
    sum = sum + Spread{std::min(squares, most), degrees};
  }
  return sum;
}

Spread past_of(SweepSeries const& series, bool logarithmic) {
  std::vector<Spread> nights;
  for (auto const& night : series.past) {
    auto const spread = summary_of(changes_in(night, logarithmic)).spread;
    if (spread.degrees > 0) nights.push_back(spread);
  }
  return sum_without_outliers(nights);
}

/// The series with costs in place of values.
SweepSeries costs_of(SweepSeries series) {
  auto const convert = [&](std::vector<Pair>& pairs) {
    for (auto& pair : pairs)
      pair = cost_of(pair, series.metric);
  };
  convert(series.pairs);
  std::ranges::for_each(series.past, convert);
  return series;
}

Judged judged(SweepSeries const& series) {
  std::vector<Pair> pairs;
  std::ranges::copy_if(series.pairs, std::back_inserter(pairs), is_finite);
  Judged one;
  one.logarithmic = std::ranges::all_of(pairs, has_logarithm);
  one.tonight = summary_of(changes_in(pairs, one.logarithmic));
  for (auto const& pair : pairs)
    one.level += pair.before / one.tonight.count;
  one.past = past_of(series, one.logarithmic);
  return one;
}

double variance_of(Spread const& spread) {
  return spread.squares / spread.degrees;
}

bool has_loudness(Judged const& one) {
  return one.tonight.spread.degrees > 0 && one.past.squares > 0;
}

/// The series' variance tonight, relative to that of its past, corrected for the few degrees of
/// freedom of both.
double loudness(Judged const& one) {
  boost::math::fisher_f const ratios{one.tonight.spread.degrees, one.past.degrees};
  return variance_of(one.tonight.spread) / variance_of(one.past) /
         boost::math::quantile(ratios, 0.5);
}

/// The night's variance, relative to that of the past: a lower confidence limit of the median over
/// the fleet, and at least 1.
double loudness_of_night(std::vector<Judged> const& fleet) {
  std::vector<double> ratios;
  for (auto const& one : fleet)
    if (one.logarithmic && has_loudness(one)) ratios.push_back(loudness(one));
  auto const count = static_cast<double>(ratios.size());
  double const place = (count - 2 * std::sqrt(count)) / 2;  // two standard deviations below
  if (count == 0 || place < 0) return 1;
  auto const surely = ratios.begin() + static_cast<std::ptrdiff_t>(place);
  std::ranges::nth_element(ratios, surely);
  return std::max(1.0, *surely);
}

/// True when the pairs of tonight are too noisy for the noise that the series had (F test).
bool is_unlike(Spread const& tonight, Spread const& past) {
  if (tonight.degrees == 0 || past.degrees == 0) return false;
  double const ratio = past.squares > 0 ? variance_of(tonight) / variance_of(past) : HUGE_VAL;
  if (!std::isfinite(ratio)) return tonight.squares > past.squares;
  boost::math::fisher_f const ratios{tonight.degrees, past.degrees};
  return boost::math::cdf(boost::math::complement(ratios, ratio)) < fleet_error;
}

Spread own_spread(Judged const& one, double loudness) {
  auto past = one.past;
  if (one.logarithmic) past.squares *= loudness;
  return is_unlike(one.tonight.spread, past) ? one.tonight.spread : past + one.tonight.spread;
}

/// The distance by which the mean of `count` changes is below the truth with probability `error`.
double margin_of(Spread const& noise, double count, double error) {
  if (noise.degrees == 0) return HUGE_VAL;
  boost::math::students_t const student{noise.degrees};
  double const errors = boost::math::quantile(boost::math::complement(student, error));
  return errors * std::sqrt(variance_of(noise) / count);
}

/// The largest change that the series may plausibly have.
double most_of(Judged const& one, Spread const& own, Spread const& usual) {
  bool const needs_fleet = one.logarithmic && own.degrees < enough_degrees;
  double const most = needs_fleet ? margin_of(own + usual, one.tonight.count, fleet_error)
                                  : margin_of(own, one.tonight.count, own_error);
  return one.tonight.mean + most;
}

bool may_have_grown(Judged const& one, double most, double tolerance) {
  double const growth = one.logarithmic ? one.level * std::expm1(most) : most;
  return one.tonight.count == 0 || !(growth <= tolerance);
}

/// Screens the series of one metric.
std::vector<bool> screen(std::vector<Judged> const& fleet,
                         Metric metric,
                         config::DecideOptions const& options) {
  double const loudness = loudness_of_night(fleet);
  std::vector<Spread> own;
  std::vector<Spread> comparable;
  for (auto const& one : fleet) {
    own.push_back(own_spread(one, loudness));
    if (one.logarithmic) comparable.push_back(own.back());
  }
  auto const usual = usual_spread(comparable);
  std::vector<bool> verdicts;
  for (std::size_t i = 0; i < fleet.size(); ++i)
    verdicts.push_back(may_have_grown(
        fleet[i], most_of(fleet[i], own[i], usual), tolerance(fleet[i].level, metric, options)));
  return verdicts;
}

}  // namespace

Spread usual_spread(std::span<Spread const> fleet) {
  auto const known = known_of(fleet);
  if (known.empty()) return {};
  std::vector<SpreadFit> fits;
  for (double const degrees : degrees_tried) {
    double const variance = likeliest_variance(known, degrees);
    fits.push_back({degrees, variance, log_likelihood(known, degrees, variance)});
  }
  double const best = std::ranges::max(fits, {}, &SpreadFit::log_likelihood).log_likelihood;
  auto const least = std::ranges::find_if(
      fits, [&](SpreadFit const& fit) { return fit.log_likelihood >= best - likelihood_margin; });
  return {least->degrees * least->variance, least->degrees};
}

std::vector<bool> may_have_grown(std::span<SweepSeries const> sweep,
                                 config::DecideOptions const& options) {
  std::map<Metric, std::vector<std::size_t>> by_metric;
  for (std::size_t i = 0; i < sweep.size(); ++i)
    if (!sweep[i].pairs.empty()) by_metric[sweep[i].metric].push_back(i);
  std::vector<bool> verdicts(sweep.size());
  for (auto const& [metric, places] : by_metric) {
    std::vector<Judged> fleet;
    for (auto const place : places)
      fleet.push_back(judged(costs_of(sweep[place])));
    auto const of_metric = screen(fleet, metric, options);
    for (std::size_t i = 0; i < places.size(); ++i)
      verdicts[places[i]] = of_metric[i];
  }
  return verdicts;
}

}  // namespace torchwatch::bisect
