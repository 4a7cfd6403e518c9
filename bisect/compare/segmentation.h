#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace torchwatch::bisect {

/// Cuts `values` into stretches of one level each, at the least total cost: every value costs its
/// squared distance to its stretch's level, but `outlier * outlier` at most, and every cut costs
/// `penalty`. Both are in units of the noise, so values come divided by its standard deviation.
///
/// Returns where each stretch but the first begins, ascending. The bound on a value's cost makes it
/// deaf to outliers: a shift is believed once it has lasted for about `penalty / outlier^2` values.
///
/// Exact however far the values are apart, by functional pruning; takes time in proportion to the
/// number of values unless nearly all are outliers. Fearnhead and Rigaill 2019, Changepoint
/// detection in the presence of outliers; pruning after Maidstone, Hocking, Rigaill and Fearnhead
/// 2017.
std::vector<std::size_t> segmentation(std::span<double const> values,
                                      double penalty,
                                      double outlier);

}  // namespace torchwatch::bisect
