#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/result.h"
#include "storage/domain/benchmark.h"

namespace torchwatch::lab {

/// The effect of a culprit or dependency on one metric of one benchmark: `value * ratio + bytes`.
struct Effect {
  std::string benchmark;  ///< "test_train[dlrm-cpu-eager]"
  Metric metric = Metric::latency;
  double ratio = 1;
  std::int64_t bytes = 0;
};

/// A commit that changes the performance of builds. Positions count from 1, the first commit after
/// the first nightly.
struct Culprit {
  std::string change;  ///< "culprits/NAME": the patch below changes/
  int at = 0;
  /// Position of its revert. The nightlies between both positions contain the culprit, if there are
  /// any.
  std::optional<int> reverted_at;
  std::vector<Effect> effects;
};

/// A span of commits that do not compile: [from, until). The commit at `until` repairs the build.
struct BrokenSpan {
  int from = 0;
  int until = 0;
};

/// A dependency that builds can be packed with, and its effects.
struct Dependency {
  std::string name;  ///< a source below dependencies/, without ".cpp"
  std::vector<Effect> effects;
};

/// The description of one history: a file below scenarios/.
struct Scenario {
  std::string name;
  std::string about;
  std::chrono::sys_days first_nightly;
  int base_commits = 8;  ///< up to the first nightly, at least 1
  int commits = 34;      ///< between the first two nightlies, at least 1
  int reverts = 2;       ///< number of them that revert a harmless commit
  /// Commits before the third nightly, before the fourth, and so on, at least 1 each.
  std::vector<int> later_commits;
  std::vector<Culprit> culprits;
  std::optional<BrokenSpan> broken;
  std::optional<Dependency> dependency;
  std::vector<std::string> models;
  std::vector<std::string> tests;
};

/// Reads and checks a scenario file. Fails with not_found or invalid_argument; the message names
/// file and key.
Result<Scenario> load_scenario(std::filesystem::path const& file);

/// Returns the positions of the nightlies after the first, oldest first.
std::vector<int> later_nightlies(Scenario const& scenario);

/// True when a nightly has the culprit.
bool is_released(Scenario const& scenario, Culprit const& culprit);

/// True when the commit at `position` contains the culprit.
bool is_in(Culprit const& culprit, int position);

/// True when the commit at `position` does not compile.
bool is_broken(Scenario const& scenario, int position);

/// Returns a date as "2025-09-02".
std::string text_of(std::chrono::sys_days day);

}  // namespace torchwatch::lab
