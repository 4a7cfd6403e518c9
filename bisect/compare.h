#pragma once

#include <optional>
#include <vector>

#include "bisect/evidence.h"
#include "bisect/repeats.h"
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
/// - regression: mean and median change are beyond the tolerance, and "no change" is refuted: by a
///   stake of 1 / `options.error`, of which the coins alone bring a third, and by as many pairs
///   as a coin needs to fall one way that seldom, rounded down to whole coins.
/// - improvement: the same downwards.
/// - unchanged: every change beyond the tolerance is refuted, upwards and downwards.
/// - inconclusive: none of these after `max_pairs`.
///
/// `options.error` bounds the probability of ever calling a regression, or an improvement, what has
/// not changed, where levels are as Student's bet has them; whatever the host does, the coins bound
/// it by three times that. `options.miss` bounds that of ever calling unchanged what moved by its
/// tolerance or more. Both hold over the whole sequence, however often one looks (Evidence tells
/// why). The answer's interval misses the truth with the error bound of its verdict, or one and a
/// half times that where nothing changed: a regression's begins at "no change" at least, and an
/// improvement's ends there, since that is refuted.
///
/// An exact metric (is_deterministic) whose processes agree has no width. Processes may still go
/// astray, and repeat each other when they do: if `n` pairs agree, the error is at most 4^-n
/// whatever their share, since a build would have to give one value n times and, being the same,
/// another one n times; and where `m` processes of the past agreed and none did not, at most 1 /
/// C(m + 1 + n, n), the mean of the n-th power of a share of which nothing else is known. A verdict
/// waits for the smaller of both. One whose processes do not agree, now or in the past, is judged
/// like a noisy one.
///
/// Values that have no logarithm are judged by differences. A pair with a value that is no finite
/// number counts as measured, and says nothing.
class Compare {
 public:
  Compare(Metric metric, config::DecideOptions const& options, Repeats past = {});

  void add(Pair pair);

  std::vector<Pair> const& pairs() const { return pairs_; }

  /// Nothing: measure another pair. From `max_pairs` pairs on, at least two, there is an answer.
  std::optional<Comparison> answer() const;

 private:
  bool is_exact() const;
  double exact_error() const;
  Verdict exact_verdict() const;
  Comparison exact_levels() const;
  Verdict verdict() const;
  bool has_grown_beyond(double most) const;
  bool has_shrunk_beyond(double least) const;
  bool has_coins() const;
  bool refutes_no_change(double log_coins, double log_stake) const;
  double limit(double direction) const;
  Comparison levels(double error) const;
  double value_at(double change) const;

  Metric metric_;
  config::DecideOptions options_;
  Repeats past_;
  std::vector<Pair> pairs_;
  bool logarithmic_ = true;  // the scale of evidence_: log ratios, or differences
  Evidence evidence_;
};

}  // namespace torchwatch::bisect
