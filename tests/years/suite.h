#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "storage/base/result.h"
#include "storage/domain/benchmark.h"
#include "tests/years/request.h"

namespace torchwatch::years {

inline constexpr auto never = std::numeric_limits<std::size_t>::max();

/// Builds of the nights [from, until) have another level.
struct Shift {
  std::size_t from = 0;
  std::size_t until = never;
  double factor = 1;
  double added = 0;  ///< to what may be zero
};

/// Many commits did it, each a little.
struct Drift {
  std::size_t from = 0;
  std::size_t nights = 1;
  double factor = 1;  ///< of all of them
};

/// A series as nobody can measure it: what its level truly is.
struct TrueSeries {
  Series series;
  double base = 0;
  double noise = 0;  ///< standard deviation of a process, as a share of the level
  std::vector<Shift> shifts{};
  std::vector<Drift> drifts{};
};

/// A level as it is measured: memory comes in grains.
double grained(Metric metric, double level);

/// Of the build of a night, on the fleet's first host.
double level_of(TrueSeries const& one, std::size_t night);

/// A benchmark on a fleet and what its processes give, by the place of its series.
struct Measured {
  FleetBenchmark which;
  std::vector<std::size_t> series;
};

struct Suite {
  std::vector<std::string> models;  ///< that were taken
  std::vector<std::string> fleets;
  std::vector<TrueSeries> series;
  std::vector<Measured> benchmarks;
};

/// As many models of the catalogue as give the wanted number of series: on the fleets "cpu" and
/// "gpu", and, where those are too few, "arm". Levels and noise are drawn, and so are small steps
/// that nobody has to hear of. Fails with invalid_argument when there are not as many. Pure.
Result<Suite> suite_of(Request const& request, std::size_t nights);

}  // namespace torchwatch::years
