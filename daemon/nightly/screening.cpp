#include "daemon/nightly/screening.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "bisect/repeats.h"
#include "bisect/screen.h"
#include "daemon/measure/job.h"

namespace torchwatch::nightly {
namespace {

using measure::SeriesGroup;

/// The outcomes of one round of one benchmark: the baseline's and the nightly's.
using Round = std::array<JobOutcome, 2>;

/// What was measured of one benchmark, by round.
using Rounds = std::map<int, Round>;

std::map<FleetBenchmark, Rounds> rounds_in(std::vector<JobOutcome> const& jobs,
                                           CommitSha const& baseline,
                                           int rounds) {
  std::map<FleetBenchmark, Rounds> all;
  for (auto const& job : jobs)
    if (job.key.round < rounds)
      all[{job.key.fleet, job.key.benchmark}][job.key.round].at(
          job.key.commit == baseline ? 0 : 1) = job;
  return all;
}

std::vector<bisect::Pair> pairs_in(Rounds const& rounds, Metric metric) {
  std::vector<bisect::Pair> pairs;
  for (auto const& [number, round] : rounds)
    if (auto const levels = measure::levels_in(round, metric))
      pairs.push_back({levels->at(0), levels->at(1)});
  return pairs;
}

bisect::Swept swept(Series const& series,
                    std::vector<bisect::Pair> const& pairs,
                    std::vector<NightPairs> const& past) {
  bisect::Swept swept{series.metric, pairs};
  for (auto const& night : past)
    if (auto const found = night.find(series); found != night.end())
      swept.past.push_back(found->second);
  return swept;
}

}  // namespace

NightPairs pairs_of(std::vector<JobOutcome> const& jobs, CommitSha const& baseline, int rounds) {
  NightPairs night;
  for (auto const& [which, measured] : rounds_in(jobs, baseline, rounds)) {
    for (auto const metric : all_metrics) {
      auto pairs = pairs_in(measured, metric);
      if (!pairs.empty()) night[{which.fleet, which.benchmark, metric}] = std::move(pairs);
    }
  }
  return night;
}

Screening screen_sweep(NightPairs const& sweep,
                       std::vector<NightPairs> const& past,
                       std::vector<config::FleetOptions> const& fleets,
                       config::DecideOptions const& options) {
  std::vector<Series> all;
  std::vector<Series> suspicious;
  measure::Past known;
  for (auto const& fleet : fleets) {
    std::vector<Series> of_fleet;
    std::vector<bisect::Swept> measured;
    for (auto const& [series, pairs] : sweep) {
      if (series.fleet != fleet.name) continue;
      of_fleet.push_back(series);
      measured.push_back(swept(series, pairs, past));
      if (is_deterministic(series.metric)) known[series] = bisect::repeats_in(measured.back().past);
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
