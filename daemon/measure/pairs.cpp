#include "daemon/measure/pairs.h"

#include <array>
#include <cstddef>
#include <utility>

#include "daemon/measure/job.h"

namespace torchwatch::measure {
namespace {

/// The outcomes of one round of one benchmark: of the build before and of that after.
using RoundOfTwo = std::array<JobOutcome, 2>;

/// What was measured of one benchmark, by round.
using RoundsOfTwo = std::map<int, RoundOfTwo>;

std::vector<bisect::Pair> pairs_in(RoundsOfTwo const& rounds, Metric metric) {
  std::vector<bisect::Pair> pairs;
  for (auto const& [number, round] : rounds)
    if (auto const levels = levels_in(round, metric))
      pairs.push_back({levels->at(0), levels->at(1)});
  return pairs;
}

}  // namespace

SeriesPairs pairs_of(std::vector<JobOutcome> jobs, CommitSha const& before, int rounds) {
  std::array<std::vector<JobOutcome>, 2> builds;
  for (auto& job : jobs)
    if (job.key.round < rounds)
      builds.at(job.key.commit == before ? 0 : 1).push_back(std::move(job));
  return pairs_of(std::move(builds[0]), std::move(builds[1]));
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
    for (auto const metric : all_metrics) {
      auto pairs = pairs_in(rounds, metric);
      if (!pairs.empty()) all[{which.fleet, which.benchmark, metric}] = std::move(pairs);
    }
  }
  return all;
}

}  // namespace torchwatch::measure
