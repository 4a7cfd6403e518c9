#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "bisect/compare/cost.h"
#include "bisect/compare/evidence.h"
#include "bisect/compare/exactness.h"
#include "config/options.h"
#include "storage/domain/benchmark.h"
#include "storage/domain/comparison.h"

namespace torchwatch::bisect {

/// Options for `series` comparisons in one nightly. `error` is so small that at most the share
/// `options.false_discovery` of all reported changes is expected to be false, however the series
/// depend on each other (e-Benjamini-Hochberg: Wang and Ramdas 2022, False discovery rate control
/// with e-values). `max_pairs` allows the pairs that the smaller error takes. Up to 500 series the
/// default `error` is small enough.
config::DecideOptions for_family(config::DecideOptions options, std::size_t series);

/// Decides whether build B differs from build A on one series. Add pairs in the order of their
/// measurement until answer() returns a verdict. Calling answer() after every pair does not weaken
/// the promises (anytime-valid):
/// - A regression or improvement is wrong with a probability of at most `options.error`, or three
///   times that on a host that violates the assumptions of the t-test.
/// - A change beyond the tolerance is called unchanged with at most `options.miss`.
///
/// A regression is a higher cost: a lower value where higher values are better (cost.h).
///
/// Pure. DESIGN.md ("compare") has the tests and theorems.
class Compare {
 public:
  Compare(Metric metric, config::DecideOptions const& options, Exactness past = {});

  void add(Pair measured);

  std::vector<Pair> const& pairs() const { return pairs_; }

  /// The verdict with its evidence; nothing if another pair is needed. From `max_pairs` pairs on,
  /// but at least two, there is always a verdict: `inconclusive` if no other one holds.
  std::optional<Comparison> answer() const;

 private:
  bool is_exact() const;
  double exact_error() const;
  Verdict exact_verdict() const;
  Comparison exact_levels() const;
  Verdict verdict() const;
  bool has_grown_beyond(double most) const;
  bool has_shrunk_beyond(double least) const;
  bool has_enough_pairs() const;
  bool refutes_no_change(double log_sign_test, double log_e_value) const;
  double limit(double direction) const;
  Comparison levels(double error) const;
  double value_at(double change) const;

  Metric metric_;
  config::DecideOptions options_;
  Exactness past_;
  std::vector<Pair> pairs_;
  std::vector<Pair> costs_;  // of pairs_
  bool logarithmic_ = true;  // the scale of evidence_: log ratios, or differences
  Evidence evidence_;
};

}  // namespace torchwatch::bisect
