#pragma once

#include <optional>
#include <vector>

#include "bisect/evidence.h"
#include "config/options.h"
#include "storage/domain/benchmark.h"
#include "storage/domain/comparison.h"

namespace torchwatch::bisect {

/// One process of each build, measured next to each other on one host; values in the metric's unit.
struct Pair {
  double before = 0;
  double after = 0;
};

/// Decides whether build B differs from build A on one series: give it pairs, in the order they
/// were measured, until it has an answer. Pure: the same pairs give the same answer, after the same
/// pair.
///
/// - regression: mean and median change are beyond the tolerance, and "no change" is refuted.
/// - improvement: the same downwards.
/// - unchanged: every change beyond the tolerance is refuted, upwards and downwards.
/// - inconclusive: none of these after `max_pairs`.
///
/// `options.error` bounds the probability of ever calling a regression or an improvement what has
/// not changed, `options.miss` that of ever calling unchanged what moved by its tolerance or more;
/// both over the whole sequence, however often one looks (Evidence tells why). The answer's
/// interval misses the truth with the error bound of its verdict.
///
/// An exact metric (is_deterministic) whose processes agree has no width. One process may still be
/// astray, so two of each build must agree before it is unchanged, and by default three before it
/// has changed. One whose processes do not agree is judged like a noisy one. Values that have no
/// logarithm are judged by differences.
class Compare {
 public:
  Compare(Metric metric, config::DecideOptions const& options);

  void add(Pair pair);

  std::vector<Pair> const& pairs() const { return pairs_; }

  /// Nothing: measure another pair. From `max_pairs` pairs on, at least two, there is an answer.
  std::optional<Comparison> answer() const;

 private:
  Comparison judge_exactly() const;
  Comparison judge() const;
  void set_interval(Comparison& comparison) const;
  double value_at(double change) const;

  Metric metric_;
  config::DecideOptions options_;
  std::vector<Pair> pairs_;
  bool logarithmic_ = true;  // the scale of evidence_: log ratios, or differences
  Evidence evidence_;
};

}  // namespace torchwatch::bisect
