#pragma once

#include <span>
#include <vector>

namespace torchwatch::bisect {

/// The level of each of several processes that took turns on one host: `runs[p][j]` is run j of
/// process p, and the runs j of all processes are neighbours in time.
///
/// A burst or a change of pace of the host falls on neighbours alike. Fitting log runs as
/// time + process by median polish (Tukey 1977, Exploratory Data Analysis, chapter 11) takes that
/// out, so the ratio of two levels is the median of the ratios of neighbouring runs, and a run
/// that was disturbed alone does not matter. The levels' common scale is the median over time.
///
/// Processes with one run each, or with unequal numbers of runs, and values that have no logarithm,
/// get the medians of their own runs. Every process has a run. Pure.
std::vector<double> levels_of(std::span<std::vector<double> const> runs);

}  // namespace torchwatch::bisect
