#pragma once

#include <string>
#include <vector>

#include "noise.h"

namespace torchwatch::bench {

/// The verdict of a judge on one series.
struct Judgement {
  bool regression = false;
  bool unchanged = false;  ///< proved unchanged; only some judges prove this
  int processes = 0;       ///< number of processes of both builds
};

/// A rule that decides whether the second build is slower.
struct Judge {
  std::string name;
  Judgement (*judge)(Samples& samples, double ratio);
};

/// torchwatch with default options, and four other methods, each by its published rule:
///
/// - TorchBench (arXiv 2304.14226, 4.2): one process each, more than 7%;
/// - Pinpoint (Chromium's bisection service): p <= 0.01, the smaller value of Mann-Whitney and
///   Kolmogorov-Smirnov, tested after 10, 20, 40, 80 and 160 processes each;
/// - benchstat (golang.org/x/perf): Mann-Whitney, p < 0.05, ten each;
/// - Welch's t test, p < 0.05, ten each.
std::vector<Judge> judges();

}  // namespace torchwatch::bench
