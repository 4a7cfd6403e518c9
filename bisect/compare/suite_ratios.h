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

/// Two nightlies, backends, devices or fleets beside each other over the whole suite, as in figures
/// 3 to 5 of the TorchBench paper. A look at levels, not a verdict: that is what `compare` is for.
/// Pure.
namespace torchwatch::bisect {

/// What is compared. The last three are empty where they are what the sides may differ by, and say
/// which where a side has several.
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

/// Two sides of levels, like beside like: where either has a test on several fleets, devices or
/// backends, these tell its tests apart, and where each has but one, they are what differs. Each
/// series stands once in a list.
Sides sides_of(std::vector<LevelOfSeries> const& first, std::vector<LevelOfSeries> const& second);

struct SidesRow {
  ModelTest key;
  std::map<Metric, double> ratios;  ///< second by first; metrics that are positive on both sides
};

/// Geometric mean of a test's ratios, where it was measured: what one device does says nothing of
/// another.
struct MeanRatio {
  ModelTest of;        ///< without a model
  std::string domain;  ///< of the models; empty: of all
  Metric metric = Metric::latency;
  double ratio = 1;
  int benchmarks = 0;
};

struct SidesComparison {
  std::vector<SidesRow> rows;
  std::vector<MeanRatio> means;  ///< by what they are of, those of all models first
  std::vector<ModelTest> only_first;
  std::vector<ModelTest> only_second;
};

/// The domain of a model; empty when nobody knows.
using DomainOf = std::function<std::string_view(std::string const& model)>;

SidesComparison compare_sides(Side const& first, Side const& second, DomainOf const& domain_of);

}  // namespace torchwatch::bisect
