#pragma once

#include <optional>
#include <span>

#include "config/options.h"
#include "storage/domain/benchmark.h"
#include "storage/domain/comparison.h"

namespace torchwatch::bisect {

/// One process of each build, measured next to each other on one host; values in the metric's unit.
struct Pair {
  double before = 0;
  double after = 0;
};

/// Decides whether build B differs from build A, from all pairs measured so far in the order they
/// were measured. Nothing: measure another pair, then ask again with one pair more. From
/// `options.max_pairs` pairs on, at least two, there is always an answer. Pure: the same pairs give
/// the same answer.
///
/// The interval is Student's for log ratios, with `options.error` shared out over the looks that
/// the rule takes, so it may be stopped at any of them (union bound; Student 1908, Welch 1947; see
/// DESIGN.md). Regression: mean and median of the log ratios beyond the threshold and the interval
/// above no change; improvement likewise below; unchanged: the interval within the threshold;
/// inconclusive: none of these when the pairs are spent. The threshold is `options.threshold` of
/// A's level, or the metric's floor if that is more.
///
/// A metric that repeats exactly in every process is decided at once, with no width and error bound
/// 0. One that should but does not is judged like a noisy one. Values that have no logarithm are
/// judged by differences.
std::optional<Comparison> compare(std::span<Pair const> pairs,
                                  Metric metric,
                                  config::DecideOptions const& options);

/// The sweep's cheap filter: `after` is more than `before` by more than `options.screen` and the
/// metric's floor. Wrong now and then on purpose; what passes is measured again by compare().
bool screen(double before, double after, Metric metric, config::DecideOptions const& options);

}  // namespace torchwatch::bisect
