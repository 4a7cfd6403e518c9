#include "bisect/compare/compare.h"

#include <algorithm>
#include <cmath>

namespace torchwatch::bisect {
namespace {

/// Standard deviation of the log ratio of two processes on an ordinary host: 3% each.
constexpr double usual_log_noise = 0.04;

/// When a change is reported, its e-value may exceed that of the sign test by at most this factor.
constexpr double most_help_of_others = 3;

bool has_logarithms(Pair const& pair) {
  return pair.before > 0 && pair.after > 0;
}

/// True when every process of a build reported the same value.
bool repeats_exactly(std::vector<Pair> const& pairs) {
  return std::ranges::all_of(pairs, [&](Pair const& pair) {
    return pair.before == pairs.front().before && pair.after == pairs.front().after;
  });
}

/// Removes the values that the verdict refuted from an interval that is wide because pairs are few.
void keep_to_verdict(Verdict verdict, RatioInterval& interval) {
  if (verdict == Verdict::regression) interval.low = std::max(interval.low, 1.0);
  if (verdict == Verdict::improvement) interval.high = std::min(interval.high, 1.0);
}

double error_of(Verdict verdict, config::DecideOptions const& options) {
  bool const is_change = verdict == Verdict::regression || verdict == Verdict::improvement;
  return is_change ? options.error : options.miss;
}

}  // namespace

config::DecideOptions for_family(config::DecideOptions options, std::size_t series) {
  if (series == 0) return options;
  options.error = std::min(options.error, options.false_discovery / static_cast<double>(series));
  options.max_pairs = std::max(options.max_pairs, options.sign_test_pairs());
  return options;
}

Compare::Compare(Metric metric, config::DecideOptions const& options, Exactness past)
    : metric_{metric},
      options_{options},
      past_{past},
      evidence_{usual_log_noise} {}

void Compare::add(Pair measured) {
  auto const pair = cost_of(measured, metric_);
  pairs_.push_back(measured);
  costs_.push_back(pair);
  if (logarithmic_ && has_logarithms(pair)) {
    evidence_.add(std::log(pair.before), std::log(pair.after));
    return;
  }
  bool const is_number = std::isfinite(pair.before) && std::isfinite(pair.after);
  if (!is_number) return;
  if (!logarithmic_) {
    evidence_.add(pair.before, pair.after);
    return;
  }
  logarithmic_ = false;  // start again on the other scale
  evidence_ = Evidence{tolerance(pair.before, metric_, options_)};
  for (auto const& earlier : costs_)
    evidence_.add(earlier.before, earlier.after);
}

std::optional<Comparison> Compare::answer() const {
  if (pairs_.empty()) return std::nullopt;
  auto const count = static_cast<int>(pairs_.size());
  int const spent = std::max(2, options_.max_pairs);
  if (!is_exact() && count < std::min(options_.min_pairs, spent)) return std::nullopt;
  auto const found = is_exact() ? exact_verdict() : verdict();
  if (found == Verdict::inconclusive && count < spent) return std::nullopt;
  auto comparison = is_exact() ? exact_levels() : levels(error_of(found, options_));
  comparison.verdict = found;
  comparison.pairs = count;
  if (comparison.ratio) keep_to_verdict(found, *comparison.ratio);
  return values_of(comparison, metric_);
}

bool Compare::is_exact() const {
  return is_deterministic(metric_) && past_.disagreed == 0 && repeats_exactly(costs_);
}

/// Upper bound on the probability that all processes of one build are outliers with one value.
double Compare::exact_error() const {
  auto const pairs = static_cast<double>(pairs_.size());
  double by_the_past = 1;  // 1 / C(agreed + 1 + pairs, pairs)
  for (double i = 1; i <= pairs; ++i)
    by_the_past *= i / (past_.agreed + 1 + i);
  return std::min(std::pow(4, -pairs), by_the_past);
}

Verdict Compare::exact_verdict() const {
  auto const [before, after] = costs_.front();
  double const change = after - before;
  auto verdict = Verdict::unchanged;
  if (std::abs(change) > tolerance(before, metric_, options_))
    verdict = change > 0 ? Verdict::regression : Verdict::improvement;
  bool const is_sure = pairs_.size() > 1 && exact_error() <= error_of(verdict, options_);
  return is_sure ? verdict : Verdict::inconclusive;
}

Comparison Compare::exact_levels() const {
  auto const [before, after] = costs_.front();
  Comparison comparison;
  comparison.before = before;
  comparison.after = after;
  comparison.error_bound = exact_error();
  if (before > 0)
    comparison.ratio =
        RatioInterval{.ratio = after / before, .low = after / before, .high = after / before};
  return comparison;
}

Verdict Compare::verdict() const {
  if (evidence_.empty()) return Verdict::inconclusive;
  double const least = limit(-1);
  double const most = limit(1);
  if (has_grown_beyond(most)) return Verdict::regression;
  if (has_shrunk_beyond(least)) return Verdict::improvement;
  // The true change is beyond at most one of the limits, so each may use the whole error.
  double const enough = -std::log(options_.miss);
  bool const is_unchanged =
      evidence_.log_below(most) >= enough && evidence_.log_above(least) >= enough;
  return is_unchanged ? Verdict::unchanged : Verdict::inconclusive;
}

// Cheap conditions come first.

bool Compare::has_grown_beyond(double most) const {
  return has_enough_pairs() && evidence_.typical_change() > most &&
         refutes_no_change(evidence_.log_sign_test_above(), evidence_.log_above(0)) &&
         evidence_.change() > most;
}

bool Compare::has_shrunk_beyond(double least) const {
  return has_enough_pairs() && evidence_.typical_change() < least &&
         refutes_no_change(evidence_.log_sign_test_below(), evidence_.log_below(0)) &&
         evidence_.change() < least;
}

bool Compare::has_enough_pairs() const {
  return std::ssize(pairs_) >= options_.sign_test_pairs();
}

bool Compare::refutes_no_change(double log_sign_test, double log_e_value) const {
  double const enough = -std::log(options_.error);
  return log_sign_test >= enough - std::log(most_help_of_others) && log_e_value >= enough;
}

/// The largest change in `direction` that is not reported, on the scale of the evidence.
double Compare::limit(double direction) const {
  double const before = value_at(0);
  double const value = before + direction * tolerance(before, metric_, options_);
  return (logarithmic_ ? std::log(std::max(0.0, value)) : value) - evidence_.level();
}

/// The levels of both builds, and the interval that misses their ratio with probability `error`.
Comparison Compare::levels(double error) const {
  Comparison comparison;
  comparison.error_bound = error;
  if (evidence_.empty()) return comparison;
  comparison.before = value_at(0);
  comparison.after = value_at(evidence_.change());
  if (comparison.before <= 0) return comparison;
  auto const interval = evidence_.interval(error);
  comparison.ratio = RatioInterval{.ratio = comparison.after / comparison.before,
                                   .low = value_at(interval.low) / comparison.before,
                                   .high = value_at(interval.high) / comparison.before};
  return comparison;
}

/// B's cost, given its change from A's on the scale of the evidence.
double Compare::value_at(double change) const {
  double const value = evidence_.level() + change;
  return logarithmic_ ? std::exp(value) : value;
}

}  // namespace torchwatch::bisect
