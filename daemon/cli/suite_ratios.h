#pragma once

#include <compare>
#include <map>
#include <string>
#include <vector>

#include "storage/domain/benchmark.h"
#include "storage/domain/result.h"

/// Two backends, fleets or builds beside each other over the whole suite, as in figures 3 to 5 of
/// the TorchBench paper. A look at levels, not a verdict: that is what `bisect::compare` is for.
/// Pure.
namespace torchwatch::cli {

/// What is compared across devices and backends.
struct ModelTest {
  std::string model;
  Test test = Test::train;
  friend auto operator<=>(ModelTest const&, ModelTest const&) = default;
};

/// One side's levels, in the metrics' units.
using Side = std::map<ModelTest, std::map<Metric, double>>;

/// `invalid_argument` when the side has it already, on another device or backend.
Result<> add_levels(Side& side, Benchmark const& benchmark, std::map<Metric, double> levels);

struct SidesRow {
  ModelTest key;
  std::map<Metric, double> ratios;  ///< second by first; metrics that are positive on both sides
};

/// Geometric mean of a test's ratios.
struct MeanRatio {
  Test test = Test::train;
  Metric metric = Metric::latency;
  double ratio = 1;
  int benchmarks = 0;
};

struct SidesComparison {
  std::vector<SidesRow> rows;
  std::vector<MeanRatio> means;
  std::vector<ModelTest> only_first;
  std::vector<ModelTest> only_second;
};

SidesComparison compare_sides(Side const& first, Side const& second);

}  // namespace torchwatch::cli
