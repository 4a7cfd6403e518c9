#pragma once

#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/domain/benchmark.h"
#include "storage/domain/night.h"

/// Compares the levels of two nightlies, backends, devices or fleets over the whole suite, as in
/// figures 3 to 5 of the TorchBench paper. These are not verdicts; `compare` gives those. Ratios
/// and their means are as measured: where higher values are better, more than 1 is better. Pure.
namespace torchwatch::bisect {

/// The key by which the sides are matched. The last three are set only where a side has several of
/// them; otherwise they are empty, and the sides may differ by them.
struct ModelTest {
  std::string model;
  Test test = Test::train;
  std::string fleet{};
  std::optional<Device> device{};
  std::string backend{};
  friend auto operator<=>(ModelTest const&, ModelTest const&) = default;
};

/// One side's levels, in the metrics' units.
using Side = std::map<ModelTest, std::map<Metric, double>>;

struct Sides {
  Side first;
  Side second;
};

/// Arranges two lists of levels so that equal keys match. Where a list has several fleets, devices
/// or backends, these become part of the key. Where each list has only one, the sides may differ by
/// it. Each list contains a series once.
Sides sides_of(std::vector<LevelOfSeries> const& first, std::vector<LevelOfSeries> const& second);

struct SidesRow {
  ModelTest key;
  std::map<Metric, double> ratios;  ///< second / first, for metrics that are positive on both
};

/// Geometric mean of the ratios of a test over models. Tests with different keys, such as another
/// device, have separate means.
struct MeanRatio {
  ModelTest of;        ///< the key, without a model
  std::string domain;  ///< the domain of the models; empty for all models
  Metric metric = Metric::latency;
  double ratio = 1;
  int benchmarks = 0;
};

struct SidesComparison {
  std::vector<SidesRow> rows;
  std::vector<MeanRatio> means;  ///< sorted by key; the mean over all models comes first
  std::vector<ModelTest> only_first;
  std::vector<ModelTest> only_second;
};

/// Returns the domain of a model; empty when it is unknown.
using DomainOf = std::function<std::string_view(std::string const& model)>;

SidesComparison compare_sides(Side const& first, Side const& second, DomainOf const& domain_of);

}  // namespace torchwatch::bisect
