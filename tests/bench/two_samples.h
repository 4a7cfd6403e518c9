#pragma once

#include <vector>

/// Tests whether two samples are from one distribution: two-sided p values.
namespace torchwatch::bench {

using Values = std::vector<double>;

double mean(Values const& values);

double median(Values values);

/// By the normal approximation with correction for ties and continuity.
double mann_whitney(Values const& before, Values const& after);

/// Asymptotic.
double kolmogorov_smirnov(Values before, Values after);

/// Of unequal variances.
double welch(Values const& before, Values const& after);

}  // namespace torchwatch::bench
