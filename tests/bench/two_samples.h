#pragma once

#include <vector>

/// Tests whether two samples are from one distribution: two-sided p values.
namespace torchwatch::bench {

using Values = std::vector<double>;

double mean(Values const& values);

double median(Values values);

/// Mann-Whitney's test, in the normal approximation with correction for ties and continuity.
double mann_whitney(Values const& before, Values const& after);

/// Kolmogorov and Smirnov's test, with its asymptotic distribution.
double kolmogorov_smirnov(Values before, Values after);

/// Welch's t test, for unequal variances.
double welch(Values const& before, Values const& after);

}  // namespace torchwatch::bench
