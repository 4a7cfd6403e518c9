#pragma once

#include <span>
#include <vector>

namespace torchwatch::bisect {

/// Returns the level of each of several processes that took turns on one host. `runs[p][j]` is run
/// j of process p, at least one each. The runs j of all processes are neighbours in time.
///
/// A burst or a change of the host's pace affects neighbours alike. Median polish takes that out:
/// it fits log runs as time + process (Tukey 1977, Exploratory Data Analysis, chapter 11). So the
/// ratio of two levels is the median of the ratios of neighbouring runs, and a run that was
/// disturbed alone does not matter. The levels' common scale is the median over time.
///
/// Levels are plain medians of each process's runs when the table does not allow a polish: one run
/// each, unequal numbers of runs, or a value without a logarithm. Pure.
std::vector<double> levels_of(std::span<std::vector<double> const> runs);

}  // namespace torchwatch::bisect
