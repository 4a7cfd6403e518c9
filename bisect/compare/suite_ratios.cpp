#include "bisect/compare/suite_ratios.h"

#include <cmath>
#include <set>
#include <tuple>

namespace torchwatch::bisect {
namespace {

std::map<Metric, double> ratios_of(std::map<Metric, double> const& first,
                                   std::map<Metric, double> const& second) {
  std::map<Metric, double> ratios;
  for (auto const& [metric, level] : first) {
    auto const other = second.find(metric);
    if (other != second.end() && level > 0 && other->second > 0)
      ratios[metric] = other->second / level;
  }
  return ratios;
}

std::vector<MeanRatio> means_of(std::vector<SidesRow> const& rows, DomainOf const& domain_of) {
  struct Sum {
    double logs = 0;
    int count = 0;
  };

  std::map<std::tuple<ModelTest, std::string, Metric>, Sum> sums;
  for (auto const& row : rows) {
    auto of = row.key;
    of.model.clear();
    std::set<std::string> const groups{{}, std::string{domain_of(row.key.model)}};
    for (auto const& group : groups) {
      for (auto const& [metric, ratio] : row.ratios) {
        auto& sum = sums[{of, group, metric}];
        sum.logs += std::log(ratio);
        ++sum.count;
      }
    }
  }
  std::vector<MeanRatio> means;
  for (auto const& [key, sum] : sums) {
    auto const& [of, domain, metric] = key;
    means.push_back({of, domain, metric, std::exp(sum.logs / sum.count), sum.count});
  }
  return means;
}

/// The fleets, devices and backends in a list of levels.
struct Places {
  std::set<std::string> fleets;
  std::set<Device> devices;
  std::set<std::string> backends;
};

Places places_of(std::vector<LevelOfSeries> const& levels) {
  Places places;
  for (auto const& [series, level] : levels) {
    places.fleets.insert(series.fleet);
    places.devices.insert(series.benchmark.device);
    places.backends.insert(series.benchmark.backend);
  }
  return places;
}

/// The properties that distinguish tests of one model.
struct Distinctions {
  bool by_fleet = false;
  bool by_device = false;
  bool by_backend = false;
};

Distinctions distinctions_of(Places const& first, Places const& second) {
  auto const several = [](auto const& one, auto const& other) {
    return one.size() > 1 || other.size() > 1;
  };
  return {several(first.fleets, second.fleets),
          several(first.devices, second.devices),
          several(first.backends, second.backends)};
}

Side side_of(std::vector<LevelOfSeries> const& levels, Distinctions const& distinctions) {
  Side side;
  for (auto const& [series, level] : levels) {
    auto const& benchmark = series.benchmark;
    ModelTest key{benchmark.model, benchmark.test};
    if (distinctions.by_fleet) key.fleet = series.fleet;
    if (distinctions.by_device) key.device = benchmark.device;
    if (distinctions.by_backend) key.backend = benchmark.backend;
    side[key][series.metric] = level;
  }
  return side;
}

}  // namespace

Sides sides_of(std::vector<LevelOfSeries> const& first, std::vector<LevelOfSeries> const& second) {
  auto const distinctions = distinctions_of(places_of(first), places_of(second));
  return {side_of(first, distinctions), side_of(second, distinctions)};
}

SidesComparison compare_sides(Side const& first, Side const& second, DomainOf const& domain_of) {
  SidesComparison comparison;
  for (auto const& [key, levels] : first) {
    auto const other = second.find(key);
    if (other == second.end())
      comparison.only_first.push_back(key);
    else
      comparison.rows.push_back({key, ratios_of(levels, other->second)});
  }
  for (auto const& [key, levels] : second)
    if (!first.contains(key)) comparison.only_second.push_back(key);
  comparison.means = means_of(comparison.rows, domain_of);
  return comparison;
}

}  // namespace torchwatch::bisect
