#pragma once

#include <string>
#include <vector>

#include "noise.h"

namespace torchwatch::bench {

/// What a judge made of one series.
struct Judgement {
  bool regression = false;
  bool unchanged = false;  ///< proved, by the judges who do
  int processes = 0;       ///< of both builds
};

/// A rule that decides whether the second build is slower.
struct Judge {
  std::string name;
  Judgement (*judge)(Samples& samples, double ratio);
};

/// torchwatch as configured by default, and beside it, each by its published rule:
///
/// - TorchBench (arXiv 2304.14226, 4.2): one process each, more than 7%;
/// - Pinpoint (Chromium's bisection service): p <= 0.01 by Mann-Whitney or Kolmogorov-Smirnov,
///   whichever is smaller, looked at after 10, 20, 40, 80 and 160 processes each;
/// - benchstat (golang.org/x/perf): Mann-Whitney, p < 0.05, ten each;
/// - Welch's t test, p < 0.05, ten each.
std::vector<Judge> judges();

}  // namespace torchwatch::bench
