#include "daemon/nightly/screening.h"

#include <algorithm>
#include <map>
#include <utility>

#include "bisect/compare/exactness.h"
#include "bisect/compare/screen.h"

namespace torchwatch::nightly {
namespace {

using measure::SeriesGroup;

bisect::SweepSeries swept(Series const& series,
                          std::vector<bisect::Pair> const& pairs,
                          std::vector<measure::SeriesPairs> const& past) {
  bisect::SweepSeries swept{series.metric, pairs};
  for (auto const& night : past)
    if (auto const found = night.find(series); found != night.end())
      swept.past.push_back(found->second);
  return swept;
}

}  // namespace

Screening screen_sweep(measure::SeriesPairs const& sweep,
                       std::vector<measure::SeriesPairs> const& past,
                       std::vector<config::FleetOptions> const& fleets,
                       config::DecideOptions const& options) {
  std::vector<Series> all;
  std::vector<Series> suspicious;
  measure::Past known;
  for (auto const& fleet : fleets) {
    std::vector<Series> of_fleet;
    std::vector<bisect::SweepSeries> measured;
    for (auto const& [series, pairs] : sweep) {
      if (series.fleet != fleet.name) continue;
      of_fleet.push_back(series);
      measured.push_back(swept(series, pairs, past));
      if (is_deterministic(series.metric))
        known[series] = bisect::exactness_of(measured.back().past);
    }
    auto const may_have_grown = bisect::may_have_grown(measured, options);
    for (std::size_t i = 0; i < of_fleet.size(); ++i)
      if (may_have_grown[i]) suspicious.push_back(of_fleet[i]);
    all.insert(all.end(), of_fleet.begin(), of_fleet.end());
  }
  return {measure::by_benchmark(suspicious), measure::by_benchmark(all), std::move(known)};
}

std::vector<SeriesGroup> sample_of(std::vector<SeriesGroup> const& all,
                                   NightlyId night,
                                   int count) {
  std::map<std::string, std::vector<SeriesGroup>> by_fleet;
  for (auto const& group : all)
    by_fleet[group.front().fleet].push_back(group);
  std::vector<SeriesGroup> sample;
  for (auto const& [fleet, groups] : by_fleet) {
    auto const wanted = std::min(static_cast<std::size_t>(count), groups.size());
    auto const first = static_cast<std::size_t>(night.value) * wanted;
    for (std::size_t i = 0; i < wanted; ++i)
      sample.push_back(groups[(first + i) % groups.size()]);
  }
  return sample;
}

std::size_t count_series(std::span<SeriesGroup const> groups) {
  std::size_t count = 0;
  for (auto const& group : groups)
    count += group.size();
  return count;
}

}  // namespace torchwatch::nightly
