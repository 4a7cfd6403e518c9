#include "bisect/compare.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "bisect/tolerance.h"

namespace torchwatch::bisect {
namespace {

/// Standard deviation of the log ratio of two processes on an ordinary host: 3% each.
constexpr double usual_log_noise = 0.04;

/// Share of an exact metric's processes that may be astray, all by the same amount.
constexpr double astray = 0.02;

bool has_logarithms(Pair const& pair) {
  return pair.before > 0 && pair.after > 0;
}

/// Every process of a build gave the same value.
bool repeats_exactly(std::vector<Pair> const& pairs) {
  return std::ranges::all_of(pairs, [&](Pair const& pair) {
    return pair.before == pairs.front().before && pair.after == pairs.front().after;
  });
}

struct Finding {
  Verdict verdict = Verdict::inconclusive;
  double error = 0;
};

/// `low` and `high` bound the changes that do not count.
Finding verdict_of(Evidence const& evidence,
                   double low,
                   double high,
                   config::DecideOptions const& options) {
  double const beyond_doubt = std::log(2 / options.error);  // half for either direction
  double const least = std::min(evidence.change(), evidence.typical_change());
  double const most = std::max(evidence.change(), evidence.typical_change());
  if (least > high && evidence.log_above(0) >= beyond_doubt)
    return {Verdict::regression, options.error};
  if (most < low && evidence.log_below(0) >= beyond_doubt)
    return {Verdict::improvement, options.error};
  // The truth is at one of the two limits at most, so either may have the whole error.
  double const enough = std::log(1 / options.miss);
  if (evidence.log_below(high) >= enough && evidence.log_above(low) >= enough)
    return {Verdict::unchanged, options.miss};
  return {Verdict::inconclusive, options.miss};
}

}  // namespace

Compare::Compare(Metric metric, config::DecideOptions const& options)
    : metric_{metric},
      options_{options},
      evidence_{usual_log_noise} {}

void Compare::add(Pair pair) {
  pairs_.push_back(pair);
  if (logarithmic_ && has_logarithms(pair)) {
    evidence_.add(std::log(pair.before), std::log(pair.after));
    return;
  }
  if (logarithmic_) {  // start again on the other scale
    logarithmic_ = false;
    evidence_ = Evidence{tolerance(pair.before, metric_, options_)};
    for (auto const& earlier : std::span{pairs_}.first(pairs_.size() - 1))
      evidence_.add(earlier.before, earlier.after);
  }
  evidence_.add(pair.before, pair.after);
}

std::optional<Comparison> Compare::answer() const {
  if (pairs_.empty()) return std::nullopt;
  auto const count = static_cast<int>(pairs_.size());
  int const spent = std::max(2, options_.max_pairs);
  bool const is_exact = is_deterministic(metric_) && repeats_exactly(pairs_);
  if (!is_exact && count < std::min(options_.min_pairs, spent)) return std::nullopt;
  auto comparison = is_exact ? judge_exactly() : judge();
  if (comparison.verdict == Verdict::inconclusive && count < spent) return std::nullopt;
  if (!is_exact) set_interval(comparison);
  comparison.pairs = count;
  return comparison;
}

/// When all pairs are alike. They are wrong when all processes of one build are astray, since then
/// these repeat each other as well.
Comparison Compare::judge_exactly() const {
  auto const [before, after] = pairs_.front();
  Comparison comparison;
  comparison.before = before;
  comparison.after = after;
  comparison.error_bound = 2 * std::pow(astray, pairs_.size());  // of either build
  double const change = after - before;
  bool const is_change = std::abs(change) > tolerance(before, metric_, options_);
  bool const is_sure = comparison.error_bound <= (is_change ? options_.error : options_.miss);
  if (is_sure && pairs_.size() > 1) {
    auto const changed = change > 0 ? Verdict::regression : Verdict::improvement;
    comparison.verdict = is_change ? changed : Verdict::unchanged;
  }
  if (before > 0)
    comparison.ratio =
        RatioInterval{.ratio = after / before, .low = after / before, .high = after / before};
  return comparison;
}

/// All but the interval.
Comparison Compare::judge() const {
  auto const to_scale = [&](double value) {
    return logarithmic_ ? std::log(value) : value;
  };
  double const level = evidence_.level();
  Comparison comparison;
  comparison.before = value_at(0);
  comparison.after = value_at(evidence_.change());
  double const allowed = tolerance(comparison.before, metric_, options_);
  double const least = comparison.before - allowed;
  double const low = to_scale(logarithmic_ ? std::max(0.0, least) : least) - level;
  double const high = to_scale(comparison.before + allowed) - level;
  auto const finding = verdict_of(evidence_, low, high, options_);
  comparison.verdict = finding.verdict;
  comparison.error_bound = finding.error;
  return comparison;
}

void Compare::set_interval(Comparison& comparison) const {
  if (comparison.before <= 0) return;
  auto const interval = evidence_.interval(comparison.error_bound);
  comparison.ratio = RatioInterval{.ratio = comparison.after / comparison.before,
                                   .low = value_at(interval.low) / comparison.before,
                                   .high = value_at(interval.high) / comparison.before};
}

/// B's level, in the metric's unit, if it is `change` away from A's.
double Compare::value_at(double change) const {
  double const value = evidence_.level() + change;
  return logarithmic_ ? std::exp(value) : value;
}

}  // namespace torchwatch::bisect
