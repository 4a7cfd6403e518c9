#include "daemon/measure/pairs.h"

#include <array>
#include <cstddef>
#include <utility>

#include "daemon/measure/job.h"

namespace torchwatch::measure {
namespace {

/// The outcomes of one round of one benchmark: first of the build before, then of the one after.
using RoundOfTwo = std::array<JobOutcome, 2>;

/// The outcomes of one benchmark, by round.
using RoundsOfTwo = std::map<int, RoundOfTwo>;

std::vector<bisect::Pair> pairs_in(RoundsOfTwo const& rounds, Metric metric) {
  std::vector<bisect::Pair> pairs;
  for (auto const& [number, round] : rounds)
    if (auto const levels = levels_in(round, metric))
      pairs.push_back({levels->at(0), levels->at(1)});
  return pairs;
}

CommitSha const& baseline_of(Series const& series, BaselineCommits const& baselines) {
  auto const own = baselines.own.find(series);
  return own == baselines.own.end() ? baselines.usual : own->second;
}

}  // namespace

SeriesPairs pairs_of(std::vector<JobOutcome> jobs, CommitSha const& before, int rounds) {
  std::array<std::vector<JobOutcome>, 2> builds;
  for (auto& job : jobs)
    if (job.key.round < rounds)
      builds.at(job.key.commit == before ? 0 : 1).push_back(std::move(job));
  return pairs_of(std::move(builds[0]), std::move(builds[1]));
}

SeriesPairs pairs_of(std::vector<JobOutcome> jobs,
                     CommitSha const& nightly,
                     BaselineCommits const& baselines,
                     int rounds) {
  std::map<CommitSha, std::vector<JobOutcome>> builds;
  for (auto& job : jobs)
    if (job.key.round < rounds) builds[job.key.commit].push_back(std::move(job));
  auto const after = std::move(builds[nightly]);
  builds.erase(nightly);
  SeriesPairs all;
  for (auto& [commit, before] : builds) {
    auto of_build = pairs_of(std::move(before), after);
    for (auto& [series, pairs] : of_build)
      if (baseline_of(series, baselines) == commit) all[series] = std::move(pairs);
  }
  return all;
}

SeriesPairs pairs_of(std::vector<JobOutcome> before, std::vector<JobOutcome> after) {
  std::map<FleetBenchmark, RoundsOfTwo> measured;
  auto const put = [&measured](std::vector<JobOutcome>& jobs, std::size_t build) {
    for (auto& job : jobs) {
      auto& round = measured[{job.key.fleet, job.key.benchmark}][job.key.round];
      round.at(build) = std::move(job);
    }
  };
  put(before, 0);
  put(after, 1);
  SeriesPairs all;
  for (auto const& [which, rounds] : measured) {
    for (auto const metric : all_metrics()) {
      auto pairs = pairs_in(rounds, metric);
      if (!pairs.empty()) all[{which.fleet, which.benchmark, metric}] = std::move(pairs);
    }
  }
  return all;
}

}  // namespace torchwatch::measure
