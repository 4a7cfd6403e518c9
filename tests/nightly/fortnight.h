#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "storage/domain/benchmark.h"
#include "storage/domain/job.h"

// Plans of nightlies with many failures, by seed. The chances of each nightly, except the first and
// the last:
//
//     each of the two models   crashes on its commit, then and later: 10%
//                              takes too long, that nightly only: 5%
//                              has no verdict on its time, that nightly only: 10%
//                              has a regression planted, of 20 to 40%, in its time or memory: 20%;
//                              60% if it crashes, takes too long or has no verdict, or if the
//                              nightly is unbuildable
//     the recipe               cannot build the nightly's commit: 5%
//                              fails once at the nightly's commit ("failed this time"): 15%
//                              fails once at a commit that a bisection may need: 30%
//     the host                 can start no recipe at the first attempt: 10%
//                              can start no worker after 0 to 29 rounds, until the next pass: 25%
//
// On the first nightly no model fails, nothing is planted, and its commit builds. On the last one
// no model fails and its commit builds, so that hidden regressions must be found.

namespace torchwatch::nightly {

/// A commit of the trunk that makes a metric of a model worse.
struct PlantedRegression {
  std::size_t commit = 0;
  std::string model;
  Metric metric = Metric::latency;
  double ratio = 1;
};

/// The changes of one nightly, and the failures while it is judged.
struct PlannedNight {
  std::string date;
  std::size_t commit = 0;                      ///< its number on the trunk
  std::vector<PlantedRegression> regressions;  ///< landed since the nightly before
  std::map<std::string, JobError> failing;     ///< models, by how they fail
  std::set<std::string> undecided;             ///< models whose time has no verdict
  bool is_unbuildable = false;
  std::set<std::size_t> fails_once;  ///< commits at which the recipe fails once
  bool no_recipe_starts = false;     ///< at the first attempt
  std::optional<int> rounds_until_no_worker_starts;
};

/// Trunk commits from one nightly to the next; the first nightly is of commit 0.
inline constexpr std::size_t commits_a_night = 3;

/// The models that are measured.
std::vector<std::string> const& planned_models();

/// The plan of a seed, of nightlies from 2026-01-01 on: at most 28.
std::vector<PlannedNight> plan_nights(std::uint64_t seed, std::size_t nights);

}  // namespace torchwatch::nightly
