#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace torchwatch::bisect {

/// Cuts `values` into stretches of one level each, at the least total cost. Every value costs its
/// squared distance to its stretch's level, but at most `outlier * outlier`. Every cut costs
/// `penalty`. Both are in units of the noise: divide values by its standard deviation first.
///
/// Returns the first index of each stretch but the first, ascending. The bound on a value's cost
/// makes it robust against outliers: a shift is found once it has lasted for about
/// `penalty / outlier^2` values.
///
/// Exact for values at any distance, by functional pruning. Takes time in proportion to the number
/// of values unless nearly all are outliers. Fearnhead and Rigaill 2019, Changepoint detection in
/// the presence of outliers; pruning after Maidstone, Hocking, Rigaill and Fearnhead 2017.
std::vector<std::size_t> segmentation(std::span<double const> values,
                                      double penalty,
                                      double outlier);

}  // namespace torchwatch::bisect
